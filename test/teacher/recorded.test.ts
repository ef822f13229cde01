import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readImport, readReplay, readTeacherTexts, recordedTeacher } from '../../src/teacher/index.ts';
import { record } from './records.ts';

const folder = await mkdtemp(join(tmpdir(), 'recorded-'));
const write = async (name: string, content: string): Promise<string> => {
  await writeFile(join(folder, name), content);
  return join(folder, name);
};

const conversation = (who: [string, string], key: string, said: string[]) =>
  said.flatMap((text) => [
    { [key === 'value' ? 'from' : 'role']: who[0], [key]: 'question' },
    { [key === 'value' ? 'from' : 'role']: who[1], [key]: text },
  ]);

describe('teacher texts', () => {
  it.each([
    [
      'LLaVA conversations',
      [
        {
          id: 7,
          image: 'a/b.JPG',
          conversations: conversation(['human', 'gpt'], 'value', ['It is soft.', 'Poor']),
        },
      ],
    ],
    [
      'ShareGPT messages',
      [
        {
          images: ['a/b.JPG'],
          messages: conversation(['user', 'assistant'], 'content', ['It is soft.', 'poor.']),
        },
      ],
    ],
    ['flat rows', [{ image: 'a/b.JPG', description: 'It is soft.', grade: 'poor' }]],
  ])('are read from %s, as an array and as lines', async (what, rows) => {
    const files = [
      await write(`${what}.json`, JSON.stringify(rows)),
      await write(`${what}.jsonl`, rows.map((row) => `${JSON.stringify(row)}\n`).join('')),
    ];
    for (const file of files) {
      expect(await readTeacherTexts(file)).toMatchObject([
        { image: 'a/b.JPG', text: 'It is soft.', grade: 'poor' },
      ]);
    }
  });

  it.each([
    ['no image', '{"text": "x"}', /names neither an image nor an id/],
    ['no text', '{"image": "x.png"}', /x\.jsonl:1 has no text of a teacher/],
    ['no JSON', 'x', /x\.jsonl:1 is not JSON/],
  ])('with %s are refused', async (_what, content, message) => {
    await expect(readTeacherTexts(await write('x.jsonl', content))).rejects.toThrow(message);
  });
});

describe('import', () => {
  const records = [record({ id: 'one', image: 'images/b.jpg', mos: 2.5 })];

  it.each([
    // The middle of poor, 1.8 to 2.6.
    ['text', '<think>It is soft. The overall quality is poor.</think><answer>2.20</answer>'],
    ['mos', '<think>It is soft. The overall quality is poor.</think><answer>2.50</answer>'],
  ] as const)('takes the score from the %s', async (score, expected) => {
    const file = await write(
      'import.json',
      JSON.stringify([{ image: 'x/B.JPG', text: 'It is soft', grade: 'poor' }]),
    );
    const { texts } = await readImport(file, records, score);
    expect(texts.get('one')).toEqual([{ text: expected }]);
  });

  it('invents no score: a text without one stays without an answer', async () => {
    const file = await write('none.json', JSON.stringify([{ image: 'b.jpg', text: 'It is soft.' }]));
    expect((await readImport(file, records, 'text')).texts.get('one')).toEqual([{ text: 'It is soft.' }]);
  });

  it('leaves a text alone that is in the output contract', async () => {
    const text = '<think>soft.</think><answer>1.00</answer>';
    const file = await write('contract.json', JSON.stringify([{ image: 'b.jpg', text, grade: 'good' }]));
    expect((await readImport(file, records, 'mos')).texts.get('one')).toEqual([{ text }]);
  });
});

describe('replay', () => {
  it('gives the answers of each image in the order of their samples', async () => {
    const lines = [
      { id: 'a', sample: 1, text: 'second' },
      { id: 'a', sample: 0, text: 'first', finishReason: 'length' },
      { id: 'b', response: 'of a row', score: 3 },
    ];
    const file = await write('replay.jsonl', lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    const teacher = recordedTeacher(await readReplay(file));
    const a = record({ id: 'a' });
    expect(teacher.answersFor?.(a)).toBe(2);
    const prompt = { id: 'p', version: 1, hash: '0', text: '' };
    expect(await teacher.answer({ record: a, prompt, sample: 0 })).toEqual({
      text: 'first',
      finishReason: 'length',
    });
    expect(teacher.answersFor?.(record({ id: 'c' }))).toBe(0);
  });
});
