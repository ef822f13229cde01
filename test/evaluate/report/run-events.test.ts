import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeFileAtomic, writeJsonl } from '../../../src/core/index.ts';
import { loadStage, renderReport, type StageReport } from '../../../src/evaluate/index.ts';
import { eventMarks } from '../../../src/evaluate/report/run-events.ts';

const events = [
  { step: 4, message: 'kl is high', watchdog: 'kl', action: 'warn', metrics: ['kl'] },
  { step: 2, message: 'reward & kl', metrics: ['kl', 'reward/mean'] },
  { step: 4, message: 'kl is <high> again', metrics: ['kl'] },
  { step: 3, message: 'the machine was restarted' },
];

describe('eventMarks', () => {
  it('are the steps of events that speak of one of the series, with the numbers of the events', () => {
    expect(eventMarks(events, ['loss', 'kl'])).toEqual([
      { step: 2, label: '2' },
      { step: 4, label: '1, 3' },
    ]);
    expect(eventMarks(events, ['reward/mean'])).toEqual([{ step: 2, label: '2' }]);
    expect(eventMarks(events, ['loss'])).toEqual([]);
  });
});

describe('a stage with events', () => {
  const page = (stage: Partial<StageReport>) =>
    renderReport({
      title: 'Page',
      createdAt: '2026-01-02T03:04:05Z',
      provenance: [],
      stages: [
        {
          name: 'GRPO',
          expects: ['kl', 'loss'],
          rows: [1, 2, 3, 4, 5].map((step) => ({ step, kl: step / 10, loss: 1 })),
          ...stage,
        },
      ],
      models: [],
      comparisons: [],
      picture: async () => undefined,
    });
  /** The values that the picture of a panel was drawn from, layer by layer. */
  const layersOf = (text: string, id: string): unknown[] => {
    const spec = JSON.parse(text.split(`data-spec="${id}">`)[1]!.split('</script>')[0]!);
    return spec.layer.map(({ data }: { data?: { values: unknown } }) => data?.values);
  };

  it('lists them with step, watchdog and action, the text escaped', async () => {
    const text = await page({ events });
    expect(text).toContain('<b>step 4</b> <small>kl, warn</small><br>kl is high</li>');
    expect(text).toContain('<b>step 4</b><br>kl is &lt;high&gt; again</li>');
    expect(text).toContain('<b>step 3</b><br>the machine was restarted</li>');
  });

  it('marks them in the pictures of their series alone', async () => {
    const text = await page({ events });
    const marks = [
      { step: 2, label: '2' },
      { step: 4, label: '1, 3' },
    ];
    expect(layersOf(text, 'figure-curve-grpo-kl-to-the-reference').slice(-2)).toEqual([marks, marks]);
    expect(layersOf(text, 'figure-curve-grpo-loss')).toEqual([undefined, undefined]);
    expect(text).toContain('event 2 at step 2; event 1, 3 at step 4');
    expect(text.match(/stroke="var\(--worse\)"/g)).toHaveLength(2);
  });

  it('folds many', async () => {
    const many = Array.from({ length: 6 }, (_, i) => ({ step: i, message: `number ${i}` }));
    expect(await page({ events: many })).toContain('<details class="events"><summary>6 event(s)');
    expect(await page({ events: many.slice(1) })).toContain('<details class="events" open><summary>5 ');
  });

  it('has no such list without any', async () => {
    expect(await page({})).not.toContain('class="events"');
  });
});

describe('loadStage', () => {
  let run: string;
  beforeEach(async () => {
    run = await mkdtemp(join(tmpdir(), 'q-ponder-run-events-'));
    await writeFileAtomic(join(run, 'config.json'), JSON.stringify({ stage: 'base', config: {} }));
    await writeJsonl(join(run, 'metrics.jsonl'), [{ step: 1, loss: 2 }]);
  });
  afterEach(() => rm(run, { recursive: true, force: true }));

  it('reads events.jsonl', async () => {
    await writeJsonl(join(run, 'events.jsonl'), [
      { ...events[0], value: 2.5, threshold: 2, firstBadStep: 3 },
    ]);
    expect((await loadStage(run)).stage.events).toEqual([events[0]]);
  });

  it('takes a run of an earlier version, which has none', async () => {
    expect((await loadStage(run)).stage.events).toBeUndefined();
  });

  it('names the line that is no event', async () => {
    await writeJsonl(join(run, 'events.jsonl'), [events[0], { step: 1 }]);
    await expect(loadStage(run)).rejects.toThrow('events.jsonl:2');
  });
});
