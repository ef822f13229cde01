import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { InputError, readAllJsonl } from '../../src/core/index.ts';
import { parsePrompt } from '../../src/data/index.ts';
import {
  coldStartRowSchema,
  createOracleTeacher,
  createTemplateTeacher,
  type Distillation,
  distill,
  filterConfigSchema,
  levelFitsScore,
  ORACLE_DEFECTS,
  type Teacher,
} from '../../src/teacher/index.ts';
import { manyRecords, record } from './records.ts';

const prompt = parsePrompt('---\nid: t/q\nversion: 1\nslots: [reference]\n---\nJudge. {{reference}}\n', 'x');
const filters = filterConfigSchema.parse({});
const good = '<think>strong jpeg compression. the quality is poor.</think><answer>2.40</answer>';
const teacherOf = (answer: (id: string, text: string) => Promise<string>): Teacher => ({
  name: 'fake',
  version: '1',
  seed: null,
  answer: async (request) => ({ text: await answer(request.record.id, request.prompt.text) }),
});

describe('distill with the oracle', () => {
  it('catches every planted defect of every kind', async () => {
    const { report } = await distill(manyRecords(3000), createOracleTeacher(), filters, { prompt });
    expect(Object.keys(report.planted).sort()).toEqual([...ORACLE_DEFECTS].sort());
    const missed = Object.entries(report.planted).filter(([, { planted, caught }]) => planted !== caught);
    expect(missed).toEqual([]);
  });

  it('refuses hardly any sound answer', async () => {
    const teacher = createOracleTeacher({ brokenShare: 0 });
    const { report } = await distill(manyRecords(2000), teacher, filters, { prompt });
    expect(report.rejected / report.records).toBeLessThan(0.01);
  });
});

describe('distill', () => {
  it('writes accepted rows, rejected rows and the report, all readable by the schema', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'distill-'));
    const output = {
      accepted: join(folder, 'rows.jsonl'),
      rejected: join(folder, 'rejected.jsonl'),
      report: join(folder, 'report.json'),
    };
    const teacher = teacherOf(async (id) => (id === 'b' ? 'no idea' : `${good}\n`));
    const result = await distill(
      [record({ id: 'a' }), record({ id: 'b' }), record({ id: 'c' })],
      teacher,
      filters,
      { prompt, output },
    );
    const rows = await readAllJsonl(output.accepted, coldStartRowSchema);
    const rejected = await readAllJsonl(output.rejected, coldStartRowSchema);
    expect(rows).toEqual(result.rows);
    expect(rows[0]).toEqual({
      id: 'a',
      image: 'images/r1.png',
      dataset: 'synthetic',
      split: 'train',
      prompt: { id: 't/q', version: 1, hash: prompt.hash },
      response: good,
      score: 2.4,
      mos: 2.5,
      level: 'poor',
      teacher: { name: 'fake', version: '1', seed: null },
      accepted: true,
    });
    expect(
      rejected.map(({ id, score, level, rejectedBecause }) => ({ id, score, level, rejectedBecause })),
    ).toEqual([
      {
        id: 'b',
        score: null,
        level: null,
        rejectedBecause: [{ reason: 'format', detail: 'there is no <answer> block' }],
      },
    ]);
    expect(JSON.parse(await readFile(output.report, 'utf8'))).toMatchObject({
      records: 3,
      accepted: 2,
      rejected: 1,
      acceptedMeanAbsoluteError: expect.closeTo(0.1, 9),
      acceptedLevelAgreement: 1,
    });
  });

  it('keeps the order of the records with several requests in flight', async () => {
    const teacher = teacherOf(async (id) => {
      await new Promise((resolve) => setTimeout(resolve, id === 'r0' ? 20 : 1));
      return good;
    });
    const records = Array.from({ length: 6 }, (_, i) => record({ id: `r${i}` }));
    const { rows } = await distill(records, teacher, filters, { prompt, concurrency: 3 });
    expect(rows.map(({ id }) => id)).toEqual(['r0', 'r1', 'r2', 'r3', 'r4', 'r5']);
  });

  it('puts the reference into the prompt of each record', async () => {
    const seen: string[] = [];
    const teacher = teacherOf(async (_id, text) => {
      seen.push(text);
      return good;
    });
    await distill([record()], teacher, filters, { prompt, reference: ({ mos }) => `MOS ${mos}` });
    expect(seen).toEqual(['Judge. MOS 2.5']);
  });

  it('counts a teacher that throws, and gives that record no row', async () => {
    const teacher = teacherOf(async (id) => {
      if (id === 'b') throw new Error('timeout');
      return good;
    });
    const { rows, rejected, report } = await distill(
      [record({ id: 'a' }), record({ id: 'b' })],
      teacher,
      filters,
      { prompt, maxFailureShare: 0.5 },
    );
    expect([rows.length, rejected.length]).toEqual([1, 0]);
    expect(report.failed).toEqual([{ id: 'b', reason: 'timeout' }]);
  });

  it('fails when too many records have no answer, after writing what there is', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'distill-'));
    const output = {
      accepted: join(folder, 'rows.jsonl'),
      rejected: join(folder, 'rejected.jsonl'),
      report: join(folder, 'report.json'),
    };
    const teacher = teacherOf(async (id) => {
      if (id === 'b') throw new Error('timeout');
      return good;
    });
    const records = [record({ id: 'a' }), record({ id: 'b' })];
    const before: number[] = [];
    const onWritten = async ({ report }: Distillation): Promise<void> => {
      before.push(report.accepted);
    };
    const asked = distill(records, teacher, filters, { prompt, output, onWritten });
    await expect(asked).rejects.toThrow(InputError);
    expect(await readAllJsonl(output.accepted, coldStartRowSchema)).toHaveLength(1);
    // What is written with it (report.md, the manifest) must not be left over from an earlier run.
    expect(before).toEqual([1]);
  });

  it('says how to mend what kept the teacher from answering', async () => {
    const { distortions: _, ...photograph } = record();
    const asked = distill([photograph], createOracleTeacher(), filters, { prompt });
    await expect(asked).rejects.toMatchObject({ hint: expect.stringContaining('use the template teacher') });
  });

  it('makes an empty report from no records', async () => {
    const { report } = await distill([], createOracleTeacher(), filters, { prompt });
    expect(report).toMatchObject({ total: 0, accepted: 0, acceptedMeanAbsoluteError: null });
  });
});

describe('rows', () => {
  it.each([
    ['the level of the score', { level: 'fair', score: 3 }, true],
    ['a neighbouring level', { level: 'good', score: 3 }, false],
    ['the bound 3.4 belongs to good', { level: 'good', score: 3.4 }, true],
    ['no level', { level: null, score: 3 }, false],
    ['no score', { level: 'fair', score: null }, false],
    ['a score off the scale', { level: 'bad', score: 0 }, false],
  ] as const)('levelFitsScore: %s', (_name, row, expected) => {
    expect(levelFitsScore(row)).toBe(expected);
  });

  it('refuse unknown keys', async () => {
    const { rows } = await distill(
      [record()],
      teacherOf(async () => good),
      filters,
      { prompt },
    );
    expect(coldStartRowSchema.safeParse({ ...rows[0], note: 'x' }).success).toBe(false);
  });
});

describe('several answers about each image', () => {
  const asked: string[] = [];
  const numbering: Teacher = {
    name: 'numbering',
    version: '1',
    seed: null,
    answer: async (request) => {
      asked.push(`${request.record.id} ${request.sample}`);
      return { text: good };
    },
  };

  it('are asked for one after the other, image by image', async () => {
    const records = [record({ id: 'a', mos: 2.4 }), record({ id: 'b', mos: 2.4 })];
    const { rows, report } = await distill(records, numbering, filters, { prompt, answersPerImage: 3 });
    expect(asked).toEqual(['a 0', 'a 1', 'a 2', 'b 0', 'b 1', 'b 2']);
    expect(rows.map(({ id }) => id)).toEqual(['a', 'a', 'a', 'b', 'b', 'b']);
    expect([report.records, report.asked, report.accepted]).toEqual([2, 6, 6]);
  });

  it('the template’s scores spread about the MOS as asked, within the scale', async () => {
    const records = Array.from({ length: 400 }, (_, i) => record({ id: `r${i}`, mos: 3 }));
    const teacher = createTemplateTeacher({ scoreStd: 0.3 });
    const { rows } = await distill(
      records,
      teacher,
      { ...filters, maxScoreDistance: null, distortions: false },
      { prompt, answersPerImage: 5 },
    );
    const scores = rows.map(({ score }) => score!);
    const mean = scores.reduce((sum, score) => sum + score, 0) / scores.length;
    const std = Math.sqrt(scores.reduce((sum, score) => sum + (score - mean) ** 2, 0) / scores.length);
    // Standard errors of 2,000 draws: .3 / sqrt(2000) = .007 for the mean, .3 / sqrt(4000) = .005 for the spread.
    expect(Math.abs(mean - 3)).toBeLessThan(0.03);
    expect(Math.abs(std - 0.3)).toBeLessThan(0.02);
    expect(rows.every(levelFitsScore)).toBe(true);
  });
});
