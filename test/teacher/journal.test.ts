import { appendFile, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { openJournal } from '../../src/teacher/index.ts';

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'journal-'));
  file = join(folder, 'answers.jsonl');
});

describe('the journal of answers', () => {
  it('has an answer on the disk when add returns, without close', async () => {
    const journal = await openJournal(folder);
    journal.add('a', 0, { text: 'x\ny', tokens: { prompt: 1, cachedPrompt: 0, completion: 2 } });
    expect(await readFile(file, 'utf8')).toBe(
      '{"id":"a","sample":0,"text":"x\\ny","tokens":{"prompt":1,"cachedPrompt":0,"completion":2}}\n',
    );
    await journal.close();
  });

  it.each([1, 10, 36])(
    'cut %i bytes before its end loses the last answer alone, and goes on',
    async (cut) => {
      const first = await openJournal(folder);
      first.add('a', 0, { text: 'kept, with ü and 图' });
      first.add('b', 0, { text: 'cut, with ü and 图' });
      await first.close();
      const bytes = await readFile(file);
      await writeFile(file, bytes.subarray(0, bytes.length - cut));
      const second = await openJournal(folder);
      expect([second.kept, second.get('b', 0)]).toEqual([1, undefined]);
      expect(second.get('a', 0)?.text).toBe('kept, with ü and 图');
      second.add('b', 0, { text: 'again' });
      await second.close();
      const third = await openJournal(folder);
      expect([third.kept, third.get('b', 0)?.text]).toEqual([2, 'again']);
      await third.close();
    },
  );

  it.each([
    ['text that is no JSON', 'hello\n', /answers\.jsonl:2 is not JSON/],
    ['a line of something else', '{"a": 1}\n', /answers\.jsonl:2 is no answer of a teacher/],
    [
      'a second answer',
      '{"id":"a","sample":0,"text":"y"}\n',
      /:2 answers question 0 about image a a second time/,
    ],
  ])('refuses %s', async (_what, line, message) => {
    await writeFile(file, '{"id":"a","sample":0,"text":"x"}\n');
    await appendFile(file, line);
    await expect(openJournal(folder)).rejects.toThrow(message);
  });
});
