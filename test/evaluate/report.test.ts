import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
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
import type { GalleryData } from '../../src/evaluate/report/gallery-data.ts';
import { prediction } from './prediction-factory.ts';

const options = { resamples: 60 };
/** A picture of one colour. */
const picture = (background: string): Promise<Buffer> =>
  sharp({ create: { width: 20, height: 10, channels: 3, background } })
    .png()
    .toBuffer();

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
    picture: async ({ id }) =>
      id === 'i1' ? picture('#ff0000') : id === 'i2' ? Uint8Array.from([66, 77]) : undefined,
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
      // KL goes from 0 to 0.01: from the lower left corner of the 280 x 170 plot to its upper right.
      expect(panel(page, 'GRPO', 'KL to the reference')).toContain('d="M0,170L280,0"');
    });
    it('say their course in words', () => {
      expect(panel(page, 'GRPO', 'KL to the reference')).toContain(
        'aria-label="KL to the reference: kl from 0 at step 0 to 0.01 at step 1"',
      );
    });
  });

  it('plots each prediction that has a score, and no other', () => {
    const figures = page.split('<figure').filter((part) => part.includes('data-kind="scatter"'));
    expect(figures).toHaveLength(2);
    for (const figure of figures) {
      expect(figure).toContain('data-points="29"');
      // Points are circles, drawn with arcs; the specification behind the picture has none.
      expect(figure.split('<script')[0]!.match(/<path[^>]*A/g)).toHaveLength(29);
    }
  });

  it('carries the specification of every picture, in plain colours', () => {
    const pictures = page.match(/<svg/g)!.length;
    const specs = [...page.matchAll(/data-spec="[^"]*">([^<]*)<\/script>/g)].map(
      (match) => JSON.parse(match[1]!) as { $schema: string },
    );
    expect(specs).toHaveLength(pictures);
    for (const spec of specs) {
      expect(spec.$schema).toBe('https://vega.github.io/schema/vega-lite/v6.json');
      expect(JSON.stringify(spec)).not.toContain('var(');
    }
  });

  describe('gallery data', () => {
    const read = (id: string): unknown => JSON.parse(page.split(`id="${id}">`)[1]!.split('</script>')[0]!);
    const gallery = () => read('gallery-data') as GalleryData;
    it('holds every picture once, the largest error of the last model first', () => {
      expect(gallery().rows).toHaveLength(30);
      expect(gallery().rows[0]!.id).toBe('i1');
      expect(gallery().rows.at(-1)!.id).toBe('i0'); // It has no score.
    });
    it('holds what each model said about it', () => {
      const scores = gallery().rows.map(({ answers }) => answers.map((answer) => answer?.score ?? null));
      const { models } = reportData();
      expect(scores[0]).toEqual(
        models.map(({ splits }) => Number(splits[0]!.predictions[1]!.score!.toFixed(4))),
      );
    });
    it('says why an answer has no score', () => {
      expect(gallery().rows.at(-1)!.answers[1]!.flags).toEqual([
        'no score',
        'no score: missing-answer',
        'not well-formed',
      ]);
    });
    it('holds a thumbnail of each picture, or why there is none', async () => {
      const of = (id: string) => gallery().rows.find((row) => row.id === id)!.picture;
      const uris = read('gallery-pictures') as string[];
      const bytes = Buffer.from(uris[of('i1') as number]!.split('base64,')[1]!, 'base64');
      const { dominant } = await sharp(bytes).stats();
      expect(dominant.r).toBeGreaterThan(230);
      expect(dominant.g).toBeLessThan(30);
      expect(of('i2')).toBe('picture cannot be read');
      expect(of('i3')).toBe('no picture');
    });
    it('keeps the worst where there are too many, and says how many are left out', async () => {
      const small = await renderReport(reportData({ gallerySize: 2 }));
      const data = JSON.parse(small.split('id="gallery-data">')[1]!.split('</script>')[0]!) as GalleryData;
      expect(data.rows.map(({ id }) => id)).toContain('i1');
      expect(data.rows).toHaveLength(2);
      expect(small).toContain('28 answers with smaller errors are left out');
    });
  });

  describe('text from models and users', () => {
    it('is escaped', () => {
      expect(page).not.toContain('<script>alert');
      expect(page).toContain('\\u003cscript>alert(\\"x\\")\\u003c/script> & so on');
      expect(page).not.toContain('<b>bold');
      expect(page).toContain('<title>Run &amp; report</title>');
      expect(page).toContain('Held-out &lt;scenes&gt;');
      expect(page).toContain('<td>&lt;7&gt;</td>');
    });
    it('cannot make the page ask for anything', () => {
      const script = page.split('<script>')[1]!.split('</script>')[0]!;
      const hash = createHash('sha256').update(script).digest('base64');
      expect(page).toContain(
        `content="default-src 'none'; script-src 'sha256-${hash}'; style-src 'unsafe-inline'; img-src data:"`,
      );
      const addresses = [...page.matchAll(/(?:src|href)="([^"]*)"/g)].map((match) => match[1]!);
      expect(addresses.filter((address) => !/^(#|data:)/.test(address))).toEqual([]);
      expect(/url\(|@import/.exec(page)).toBeNull();
    });
  });

  describe('results', () => {
    const row = (table: string, label: string) =>
      page
        .split(`<table class="${table}"`)[1]!
        .split('</table>')[0]!
        .split('<tr>')
        .find((part) => text(part.split('</th>')[0]!) === label) ?? '';
    const text = (markup: string) =>
      markup
        .replace(/<[^>]*>/g, ' ')
        .replace(/ +/g, ' ')
        .trim();
    it('show values and intervals as computed, the better model in bold', () => {
      const { value, interval } = reportData().models[1]!.splits[0]!.summary.srcc;
      const range =
        interval.status === 'ok' ? `[${interval.low.toFixed(3)}, ${interval.high.toFixed(3)}]` : '?';
      const shown = value.status === 'ok' ? value.value.toFixed(3) : '?';
      expect(row('results', 'Q-Ponder')).toContain(
        `<td><strong>${shown}</strong> <small>${range}</small></td>`,
      );
      expect(row('results', 'Q-Ponder-CI')).not.toContain('<strong>');
    });
    it('show the paired difference as computed', () => {
      const { difference } = reportData().comparisons[0]!.result.srcc;
      const shown = difference.status === 'ok' ? `+${difference.value.toFixed(3)}` : '?';
      expect(text(row('differences', 'Held-out &lt;scenes&gt; Q-Ponder \u2212 Q-Ponder-CI'))).toContain(
        shown,
      );
    });
    it('mark a smaller RMSE as better', () => {
      const gap = reportData().comparisons[0]!.result.rmse;
      expect(gap.interval.status === 'ok' && gap.interval.high < 0).toBe(true);
      const cells = row('differences', 'Held-out &lt;scenes&gt; Q-Ponder \u2212 Q-Ponder-CI').split('<td');
      expect(cells[3]).toMatch(/^ class="better"><strong>\u2212/);
    });
  });
});

describe('renderReport without much', () => {
  it('says what is missing when nothing was given', async () => {
    const page = await renderReport(
      reportData({
        stages: [],
        models: [],
        comparisons: [],
        provenance: [],
        contactSheet: Uint8Array.from([1, 2, 3]),
      }),
    );
    for (const what of ['no predictions', 'no provenance', 'the contact sheet cannot be read']) {
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
    expect(page).toContain('<td><abbr title="all 2 scores equal 3">constant scores</abbr></td>');
    expect(page).not.toContain('undefined</');
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
        'test no score none of 2 answers has a score',
      );
    });
    it('without a correlation says why, and of how many', async () => {
      const rows = [prediction('a', 2, 3), prediction('b', 4, 3), prediction('c', 4, null)];
      expect(await headline(rows)).toBe('test no SRCC all 2 scores equal 3; scored 2 of 3');
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
    const differences = page.split('<table class="differences"')[1]!.split('</table>')[0]!;
    expect(differences.match(/<td[^>]*>.*?<\/td>/g)).toEqual([
      ...Array<string>(4).fill('<td>0.000</td>'),
      '<td>29 <small>1 without a score on a side</small></td>',
    ]);
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

it('writeReport writes what renderReport makes, and says how much', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'q-ponder-report-'));
  try {
    const data = reportData({ contactSheet: await picture('#00ff00') });
    const path = join(folder, 'deep', 'report.html');
    const file = await writeReport(path, data);
    const page = await readFile(path, 'utf8');
    expect(page).toBe(await renderReport(data));
    expect(file).toEqual({ path, bytes: Buffer.byteLength(page), shown: 30, leftOut: 0 });
    const sheet = /class="sheet"[^>]*src="data:image\/webp;base64,([^"]*)"/.exec(page)![1]!;
    expect((await sharp(Buffer.from(sheet, 'base64')).stats()).dominant.g).toBeGreaterThan(230);
  } finally {
    await rm(folder, { recursive: true });
  }
});
