import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { Rng } from '../../src/core/index.ts';
import {
  COLD_START_PANELS,
  compare,
  GRPO_PANELS,
  type Prediction,
  type ReportData,
  renderReport,
  summarize,
  writeReport,
} from '../../src/evaluate/index.ts';
import { prediction } from './prediction-factory.ts';

const options = { resamples: 60 };
const PNG = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 1, 2, 3]);
const JPEG = Uint8Array.from([0xff, 0xd8, 0xff, 9]);

/** 30 predictions about the same images; the first is missing its score, the second is wrong by 2.5. */
function predictions(noise: number): Prediction[] {
  const rng = new Rng(`report ${noise}`);
  return Array.from({ length: 30 }, (_, i) => {
    const mos = 1.2 + (3.6 * i) / 29;
    if (i === 0) return prediction('i0', mos, null, { text: '<script>alert("x")</script> & so on' });
    if (i === 1) return prediction('i1', mos, mos + 2.5, { reasoning: 'a <b>bold</b> claim' });
    return prediction(`i${i}`, mos, mos + rng.normal(0, noise), {
      distortionsTrue: [{ type: 'jpeg', level: 2 }],
    });
  });
}

function reportData(over: Partial<ReportData> = {}): ReportData {
  const [baseline, candidate] = [predictions(0.8), predictions(0.2)];
  const model = (name: string, rows: Prediction[]) => ({
    name,
    splits: [{ split: 'Held-out <scenes>', predictions: rows, summary: summarize(rows, options) }],
  });
  return {
    title: 'Run & report',
    createdAt: '2026-01-02T03:04:05Z',
    provenance: [{ label: 'seed', value: '<7>' }],
    stages: [
      {
        name: 'Cold start',
        expects: COLD_START_PANELS,
        rows: [
          { step: 0, loss: 3, learningRate: 0.1 },
          { step: 1, loss: null },
          { step: 2, loss: 2, 'validation/loss': 2.5 },
        ],
      },
      {
        name: 'GRPO',
        expects: GRPO_PANELS,
        rows: [
          { step: 0, reward: 0.5, 'reward/accuracy': 0.4, rewardStd: 0.1, kl: 0 },
          { step: 1, reward: 0.6, 'reward/accuracy': 0.5, rewardStd: 0.1, kl: 0.01 },
        ],
      },
    ],
    models: [model('Q-Ponder-CI', baseline), model('Q-Ponder', candidate)],
    comparisons: [
      {
        split: 'Held-out <scenes>',
        baseline: 'Q-Ponder-CI',
        candidate: 'Q-Ponder',
        result: compare(baseline, candidate, options),
      },
    ],
    picture: async ({ id }) => (id === 'i1' ? PNG : id === 'i2' ? Uint8Array.from([66, 77]) : undefined),
    gallerySize: 30,
    ...over,
  };
}

/** The markup of the panel with this title, of the stage with this name. */
function panel(page: string, stage: string, title: string): string {
  const section = page.split('<section class="stage">').find((part) => part.startsWith(`<h3>${stage}`)) ?? '';
  const figure = section.split('<figure').find((part) => part.includes(`data-panel="${title}"`));
  return figure?.split('</figure>')[0] ?? `no panel ${title}`;
}

describe('renderReport', () => {
  let page: string;
  beforeAll(async () => {
    page = await renderReport(reportData());
  });

  describe('curves', () => {
    it('count only finite values and tell the gap', () => {
      const loss = panel(page, 'Cold start', 'Loss');
      expect(loss).toContain('data-points="3"'); // loss at steps 0 and 2, validation/loss at step 2
      expect(loss).toContain('1 value(s) not finite, left out');
    });
    it('show an expected series that was never logged as missing, without a chart', () => {
      for (const title of ['Entropy', 'Completion length', 'Validation correlation', 'Loss']) {
        expect(panel(page, 'GRPO', title)).toContain('missing: not logged in this run');
        expect(panel(page, 'GRPO', title)).not.toContain('<svg');
      }
    });
    it('name every reward term, and leave its spread to the further series', () => {
      const reward = panel(page, 'GRPO', 'Reward and its terms');
      expect([...reward.matchAll(/<li style[^>]*>([^<]*)/g)].map((match) => match[1])).toEqual([
        'reward',
        'reward/accuracy',
      ]);
      expect(page).toContain('<details><summary>1 further series');
      expect(panel(page, 'GRPO', 'rewardStd')).toContain('data-points="2"');
    });
    it('draw one line from the first to the last step of the values given', () => {
      // KL goes from 0 to 0.01: from the lower left corner of the 320 x 170 plot to its upper right.
      expect(panel(page, 'GRPO', 'KL to the reference')).toContain('d="M0,170L320,0"');
    });
  });

  it('plots each prediction that has a score, and no other', () => {
    const figures = page.split('<figure').filter((part) => part.includes('data-split'));
    expect(figures).toHaveLength(2);
    for (const figure of figures) {
      expect(figure).toContain('data-points="29"');
      expect(figure.match(/<path[^>]*A/g)).toHaveLength(29); // Points are circles, drawn with arcs.
    }
  });

  describe('gallery', () => {
    const cards = () => page.split('<article').slice(1);
    const section = (title: string) => page.split('<h3>').find((part) => part.startsWith(title)) ?? '';
    it('starts with the largest error under Worst', () => {
      expect(section('Worst').match(/data-id="([^"]*)"/)?.[1]).toBe('i1');
      expect(section('Worst')).toContain('+2.50');
    });
    it('lists answers without a score apart, with the parser status', () => {
      expect(section('Without a score (1)')).toContain('missing-answer');
      expect(section('Best')).not.toContain('data-id="i0"');
    });
    it('shows the picture inline, or says why not', () => {
      const card = (id: string) => cards().find((part) => part.startsWith(` class="card" data-id="${id}"`));
      expect(card('i1')).toContain(`src="data:image/png;base64,${Buffer.from(PNG).toString('base64')}"`);
      expect(card('i2')).toContain('picture i2 is in no format that browsers show');
      expect(card('i3')).toContain('picture i3 is not available');
    });
    it('shows what the other model said about the same image', () => {
      expect(section('Without a score')).toContain('Q-Ponder-CI: no score');
    });
  });

  describe('text from models and users', () => {
    it('is escaped', () => {
      expect(page).not.toContain('<script');
      expect(page).toContain('&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt; &amp; so on');
      expect(page).toContain('a &lt;b&gt;bold&lt;/b&gt; claim');
      expect(page).toContain('<title>Run &amp; report</title>');
      expect(page).toContain('Held-out &lt;scenes&gt;');
      expect(page).toContain('<td>&lt;7&gt;</td>');
    });
    it('cannot make the page ask for anything', () => {
      expect(page).toContain(`content="default-src 'none'; style-src 'unsafe-inline'; img-src data:"`);
      const addresses = [...page.matchAll(/(?:src|href)="([^"]*)"/g)].map((match) => match[1]!);
      expect(addresses.filter((address) => !/^(#|data:)/.test(address))).toEqual([]);
      expect(/url\(|@import/.exec(page)).toBeNull();
    });
  });

  describe('results table', () => {
    const row = (label: string) =>
      page.split('<tr>').find((part) => part.startsWith(`<th scope="row">${label}</th>`)) ?? '';
    const text = (markup: string) =>
      markup
        .replace(/<[^>]*>/g, ' ')
        .replace(/ +/g, ' ')
        .trim();
    it('shows values, intervals and the paired difference as computed', () => {
      const { models, comparisons } = reportData();
      const { value } = models[1]!.splits[0]!.summary.srcc;
      const { difference } = comparisons[0]!.result.srcc;
      expect(text(row('SRCC'))).toContain(value.status === 'ok' ? value.value.toFixed(3) : '?');
      expect(text(row('SRCC'))).toContain(
        difference.status === 'ok' ? `+${difference.value.toFixed(3)}` : '?',
      );
    });
    it('marks a smaller RMSE as better', () => {
      const gap = reportData().comparisons[0]!.result.rmse;
      expect(gap.interval.status === 'ok' && gap.interval.high < 0).toBe(true);
      expect(row('RMSE')).toContain('class="better"');
      expect(text(row('RMSE'))).toContain('\u2212');
    });
  });
});

describe('renderReport without much', () => {
  it('says what is missing when nothing was given', async () => {
    const page = await renderReport(
      reportData({ stages: [], models: [], comparisons: [], provenance: [], contactSheet: PNG.slice(1) }),
    );
    for (const what of ['no training stage', 'no predictions', 'no provenance', 'no contact sheet']) {
      expect(page).toContain(`missing: ${what}`);
    }
  });

  it('shows an undefined metric with its reason, not as a number', async () => {
    const rows = [prediction('a', 2, 3), prediction('b', 4, 3)];
    const page = await renderReport(
      reportData({
        models: [
          {
            name: 'constant',
            splits: [{ split: 'test', predictions: rows, summary: summarize(rows, options) }],
          },
        ],
        comparisons: [],
      }),
    );
    expect(page).toContain(
      '<th scope="row">SRCC</th><td><abbr title="all 2 scores equal 3">undefined</abbr>',
    );
    expect(page).not.toContain('NaN');
  });

  describe('the headline of a model', () => {
    const headline = async (rows: Prediction[]) => {
      const page = await renderReport(
        reportData({
          models: [
            { name: 'm', splits: [{ split: 'test', predictions: rows, summary: summarize(rows, options) }] },
          ],
          comparisons: [],
        }),
      );
      const card = page.split('<div class="headline">')[1]!.split('</header>')[0]!;
      return card
        .replace(/<[^>]*>/g, ' ')
        .replace(/\s+/g, ' ')
        .trim();
    };
    it('without any score says so in words', async () => {
      expect(await headline([prediction('a', 2, null), prediction('b', 3, null)])).toBe(
        'm, test: SRCC no score none of 2 answers has a score',
      );
    });
    it('without a correlation says why, and of how many', async () => {
      const rows = [prediction('a', 2, 3), prediction('b', 4, 3), prediction('c', 4, null)];
      expect(await headline(rows)).toBe('m, test: SRCC no SRCC all 2 scores equal 3; scored 2 of 3');
    });
    it('counts the pictures that the figures are about', async () => {
      expect(await headline(predictions(0.2))).toMatch(/\], PLCC 0\.\d{3}, scored 29 of 30$/);
    });
  });

  it('says of two models with the same answers that there is no difference, without signs and zeros', async () => {
    const rows = predictions(0.2);
    const split = { split: 'test', predictions: rows, summary: summarize(rows, options) };
    const result = compare(rows, rows, options);
    const page = await renderReport(
      reportData({
        models: [
          { name: 'a', splits: [split] },
          { name: 'b', splits: [split] },
        ],
        comparisons: [{ split: 'test', baseline: 'a', candidate: 'b', result }],
      }),
    );
    expect(page).toContain('no difference to a <small>the same ranking</small>');
    expect(page).not.toContain('\u00B1');
    expect(page).toContain('<td>0.000</td>');
  });

  it('has no chart for a split without any score', async () => {
    const rows = [prediction('a', 2, null)];
    const page = await renderReport(
      reportData({
        models: [
          { name: 'mute', splits: [{ split: 'test', predictions: rows, summary: summarize(rows, options) }] },
        ],
        comparisons: [],
      }),
    );
    expect(page).toContain('missing: no prediction has a score');
  });
});

it('writeReport writes what renderReport makes, with the contact sheet inside', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'q-ponder-report-'));
  try {
    const data = reportData({ contactSheet: JPEG });
    await writeReport(join(folder, 'deep', 'report.html'), data);
    const page = await readFile(join(folder, 'deep', 'report.html'), 'utf8');
    expect(page).toBe(await renderReport(data));
    expect(page).toContain(`src="data:image/jpeg;base64,${Buffer.from(JPEG).toString('base64')}"`);
  } finally {
    await rm(folder, { recursive: true });
  }
});
