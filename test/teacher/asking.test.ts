import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { QUALITY_LEVELS, RemoteError, type RemoteReason } from '../../src/core/index.ts';
import { loadShippedPrompt, parsePrompt, SEVERITY_WORDS } from '../../src/data/index.ts';
import {
  boundedPictureUrl,
  CHINESE_LEVELS,
  type ColdStartRow,
  distill,
  filterConfigSchema,
  guidanceText,
  selectRows,
  type Teacher,
} from '../../src/teacher/index.ts';
import { record } from './records.ts';

const prompt = parsePrompt('---\nid: t/q\nversion: 1\nslots: []\n---\nJudge.\n', 'x');
const filters = filterConfigSchema.parse({});
const good = '<think>strong jpeg compression. the quality is poor.</think><answer>2.40</answer>';
const bad = '<think>strong jpeg compression. the quality is poor.</think><answer>5.00</answer>';
const records = Array.from({ length: 60 }, (_, i) => record({ id: `r${i}` }));

function failing(
  answer: (id: string, sample: number) => string | RemoteReason,
): Teacher & { questions: string[] } {
  const questions: string[] = [];
  return {
    questions,
    name: 'fake',
    version: '1',
    seed: null,
    answer: async ({ record: { id }, sample }) => {
      questions.push(`${id} ${sample}`);
      const said = answer(id, sample);
      if (said.startsWith('<')) return { text: said };
      throw new RemoteError(`no answer about ${id}`, { reason: said as RemoteReason });
    },
  };
}

describe('asking', () => {
  it.each([
    ['a refused key', 'authentication', 1],
    ['a wrong address', 'not-found', 1],
    ['a server that is not there', 'unreachable', 1],
    ['twenty failures in a row', 'timeout', 20],
  ] as const)('ends with %s', async (_what, reason, questions) => {
    const teacher = failing(() => reason);
    const { stoppedBy, report } = await distill(records, teacher, filters, { prompt });
    expect([stoppedBy?.reason, teacher.questions.length, report.missing]).toEqual([reason, questions, 60]);
  });

  it('goes on after a failure, and says which questions have no answer', async () => {
    const teacher = failing((id) => (id === 'r7' ? 'timeout' : good));
    const { stoppedBy, report } = await distill(records, teacher, filters, { prompt });
    expect([stoppedBy, report.accepted, report.missing]).toEqual([undefined, 59, 1]);
    expect(report.failed).toEqual([{ id: 'r7', reason: 'no answer about r7' }]);
  });

  it('asks again for rejected answers alone, as often as allowed, and takes the first sound one', async () => {
    const teacher = failing((id, sample) => (id === 'r1' && sample < 4 ? bad : good));
    const some = records.slice(0, 3);
    const options = { prompt, answersPerImage: 2 };
    const { rows } = await distill(some, teacher, filters, { ...options, retryRejected: 2 });
    expect(teacher.questions.slice(6)).toEqual(['r1 2', 'r1 3', 'r1 4', 'r1 5']);
    expect(rows).toHaveLength(6);
    const { report } = await distill(some, teacher, filters, { ...options, retryRejected: 1 });
    expect([report.accepted, report.rejected, report.answers]).toEqual([4, 2, 8]);
  });
});

describe('selection', () => {
  const row = (score: number, words: string, id = 'a'): ColdStartRow => ({
    id,
    image: 'x',
    dataset: 'd',
    split: 'train',
    prompt: { id: 'p', version: 1, hash: '0'.repeat(64) },
    response: `<think>${words}</think><answer>${score.toFixed(2)}</answer>`,
    score,
    mos: 3,
    level: null,
    teacher: { name: 't', version: '1', seed: null },
    accepted: true,
  });
  const near = row(3.1, 'one two three four five six');
  const nearer = row(2.95, 'one two three four five seven');
  const far = row(3.8, 'all of it is quite different here');
  const other = row(1, 'x', 'b');

  it.each([
    ['best', 1, [nearer, other]],
    ['best', 2, [near, nearer, other]],
    // The closest one, then the one whose words differ most.
    ['diverse', 2, [nearer, far, other]],
    ['all', 1, [near, nearer, far, other]],
  ] as const)('%s, %i of each image', (keep, perImage, expected) => {
    const { selected, others } = selectRows([near, nearer, far, other], { keep, perImage });
    expect(selected).toEqual(expected);
    expect(others.length).toBe(4 - expected.length);
  });

  it('of equal distances takes the earlier one', () => {
    const [low, high] = [row(2.5, 'a'), row(3.5, 'b')];
    expect(selectRows([low, high], { keep: 'best', perImage: 1 }).selected).toEqual([low]);
  });
});

describe('guidance', () => {
  const known = record({
    mos: 2.5,
    distortions: [
      { type: 'jpeg', level: 2 },
      { type: 'haze', level: 5 },
    ],
  });

  it('tells score and distortions, in the language of the prompt', () => {
    expect(guidanceText(known, 'all', 'en')).toBe(
      'People who looked at this picture gave it 2.50 on average, on a scale from 1 to 5: poor.\nDistortions applied to this picture, strongest first: severe haze, mild jpeg compression.',
    );
    expect(guidanceText(known, 'all', 'zh')).toContain('2.50（1 到 5 分），属于“较差”');
  });

  it('tells no more than it is asked to', () => {
    expect(guidanceText(known, 'none', 'en')).toBe('');
    expect(guidanceText(known, 'distortions', 'en')).not.toContain('2.50');
    expect(guidanceText(known, 'score', 'en')).not.toContain('haze');
  });

  it('says nothing of distortions that nobody knows', () => {
    const { distortions: _unknown, ...photograph } = known;
    expect(guidanceText(photograph, 'distortions', 'en')).toBe('');
  });
});

describe('prompts of teachers', () => {
  it.each(['teacher/expert.v1', 'teacher/inspector.v1'])(
    '%s asks for the words that answers are read by',
    async (name) => {
      const { template, slots } = await loadShippedPrompt(name);
      expect(template).toContain(Object.values(SEVERITY_WORDS).join(', '));
      expect(template).toContain(QUALITY_LEVELS.join(', '));
      expect(slots).toEqual(['reference']);
    },
  );

  it.each(['teacher/expert-zh.v1', 'teacher/inspector-zh.v1'])(
    '%s asks for the levels in Chinese',
    async (name) => {
      const { template } = await loadShippedPrompt(name);
      expect(template).toContain(CHINESE_LEVELS.join('、'));
    },
  );
});

const folder = await mkdtemp(join(tmpdir(), 'picture-'));
const file = (name: string): string => join(folder, name);

describe('pictures for a server', () => {
  const bytesIn = (url: string): Buffer => Buffer.from(url.slice(url.indexOf(',') + 1), 'base64');
  const plain = (width: number, height: number) =>
    sharp({ create: { width, height, channels: 3, background: '#246' } });

  it('are the bytes of the file where it is small enough', async () => {
    await plain(20, 10).jpeg().toFile(file('small.jpg'));
    const url = await boundedPictureUrl(file('small.jpg'), 200);
    expect(url.startsWith('data:image/jpeg;base64,')).toBe(true);
    expect(bytesIn(url).equals(await readFile(file('small.jpg')))).toBe(true);
  });

  it('are scaled to the limit, upright, and keep their shape', async () => {
    await plain(80, 40).withMetadata({ orientation: 6 }).jpeg().toFile(file('turned.jpg'));
    const { width, height, format } = await sharp(
      bytesIn(await boundedPictureUrl(file('turned.jpg'), 800)),
    ).metadata();
    // 80 x 40 turned by a quarter is 40 x 80; 3,200 pixels to 800 halves each side.
    expect([width, height, format]).toEqual([20, 40, 'png']);
  });

  it('that are broken are named', async () => {
    await writeFile(file('broken.png'), 'no picture');
    await expect(boundedPictureUrl(file('broken.png'), 800)).rejects.toThrow(
      /broken\.png is not a picture that can be sent/,
    );
  });
});
