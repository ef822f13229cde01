import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parsePrompt } from '../../src/data/index.ts';
import {
  distill,
  distillIdentity,
  distillPage,
  filterConfigSchema,
  type Teacher,
  type TeachingRecord,
} from '../../src/teacher/index.ts';
import { record } from './records.ts';

const prompt = parsePrompt('---\nid: t/q\nversion: 1\nslots: []\n---\nJudge.\n', 'x');
const good = '<think>strong jpeg compression. the quality is poor.</think><answer>2.40</answer>';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'distill-page-'));
  const picture = sharp({ create: { width: 300, height: 200, channels: 3, background: '#336699' } });
  await picture.png().toFile(join(folder, 'there.png'));
});
afterAll(() => rm(folder, { recursive: true }));

const teacherOf = (answers: Record<string, string>, over: Partial<Teacher> = {}): Teacher => ({
  name: 'fake',
  version: '1',
  seed: 7,
  settings: { address: 'http://127.0.0.1:1/v1', prompts: [{ id: 'teacher/x', hash: 'abc' }] },
  answer: async ({ record: { id } }) => ({ text: answers[id] ?? good }),
  ...over,
});

async function page(records: TeachingRecord[], teacher: Teacher): Promise<string> {
  const made = await distill(records, teacher, filterConfigSchema.parse({}), { prompt, maxFailureShare: 1 });
  return distillPage(made, { dataset: folder, identity: distillIdentity(teacher, records), cost: 1.5 });
}

describe('the page of a distilled set', () => {
  it('says how much was accepted and what each filter refused, with an example', async () => {
    const records = ['a', 'b', 'c', 'd'].map((id) => record({ id, image: 'there.png' }));
    const html = await page(records, teacherOf({ d: 'no idea' }));
    expect(html).toContain('75.0 % accepted: 3 of 4 answers.');
    expect(html).toContain('<tr><td>rejected</td><td class="number">1</td></tr>');
    expect(html).toContain('<tr><td>cost</td><td class="number">1.5000</td></tr>');
    expect(html).toMatch(
      /<a href="#format">format<\/a><\/td><td class="number">1<\/td><td class="number">25\.0 %<\/td><td><div class="bar"><div style="width:25\.0%">/,
    );
    expect(html).toContain('<h2 id="format">Refused for format: 1</h2>');
    expect(html).toContain('<blockquote>no idea</blockquote>');
  });

  it('names teacher, settings, prompt and data by their hashes', async () => {
    const records = [record({ image: 'there.png' })];
    const teacher = teacherOf({});
    const html = await page(records, teacher);
    expect(html).toContain('fake, version 1');
    expect(html).toContain(`t/q.v1, SHA-256 ${prompt.hash}`);
    expect(html).toContain(`1 images, SHA-256 ${distillIdentity(teacher, records).data.sha256}`);
    expect(html).toContain('[{&quot;id&quot;:&quot;teacher/x&quot;,&quot;hash&quot;:&quot;abc&quot;}]');
  });

  it('shows a small picture where there is one, and none where it is gone', async () => {
    const html = await page(
      [record({ id: 'a', image: 'there.png' }), record({ id: 'b', image: 'gone.png' })],
      teacherOf({}),
    );
    const pictures = [...html.matchAll(/<img src="data:image\/jpeg;base64,([^"]+)"/g)];
    expect(pictures).toHaveLength(1);
    const { width, height } = await sharp(Buffer.from(pictures[0]![1]!, 'base64')).metadata();
    expect([width, height]).toEqual([128, 85]);
  });

  it('is whole for a set in which nothing was answered', async () => {
    const html = await page(
      [record({ id: 'a' })],
      teacherOf({}, { answer: () => Promise.reject(new Error('<b>down</b>')) }),
    );
    expect(html).toContain('- accepted: 0 of 0 answers.');
    expect(html).toContain('<code>a</code>: &lt;b&gt;down&lt;/b&gt;');
  });
});

describe('hostile text on the page', () => {
  const payloads = [
    '<script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    "'><svg/onload=alert(1)>",
    '</blockquote></div><iframe src="javascript:alert(1)">',
    '</style><style>*{display:none}</style>',
    '<!-- --><meta http-equiv="refresh" content="0;url=http://example.com">',
    '<a href="http://example.com" style="position:fixed;inset:0">x</a>',
    '&#60;script&#62;',
    'a\u0000b\u001b[31m\u202egnp',
  ];

  it.each(payloads)('%j stays text, wherever it stands', async (payload) => {
    const records = [
      record({ id: `${payload} 1`, image: 'there.png', dataset: payload }),
      record({ id: `${payload} 2`, image: `${payload}.png` }),
      record({ id: `${payload} 3`, image: 'there.png' }),
    ];
    const teacher = teacherOf(
      {
        [`${payload} 1`]: `${payload}`,
        [`${payload} 2`]: `<think>${payload} the quality is poor.</think><answer>2.50</answer>`,
      },
      { name: payload, version: payload, seed: payload, settings: { [payload]: payload, list: [payload] } },
    );
    const html = await page(records, teacher);
    const tags = new Set([...html.matchAll(/<\/?([a-z][a-z0-9]*)/gi)].map(([, name]) => name!.toLowerCase()));
    expect([...tags].sort()).toEqual(
      'a blockquote br code div figure h1 h2 html img meta p span style table td th title tr'.split(' '),
    );
    expect(html.match(/<meta/g)).toHaveLength(3);
    expect(html.match(/<style/g)).toHaveLength(1);
    expect(html).not.toMatch(/<[^>]*\son\w+\s*=/i);
    expect(html).not.toMatch(/(?:src|href)="(?!data:image\/jpeg;base64,|#)/);
    expect(html).not.toMatch(/[^\P{Cc}\n]|\u202e/u);
  });

  it('cannot run or load anything even if it were taken for markup', async () => {
    expect(await page([record()], teacherOf({}))).toContain(
      `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">`,
    );
  });
});
