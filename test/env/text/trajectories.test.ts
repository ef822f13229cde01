import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { InputError, StorageError } from '../../../src/core/index.ts';
import {
  itemIdOf,
  readEvaluationItems,
  readTrajectories,
  type Trajectory,
  taskOfItem,
  writeEvaluationItems,
  writeTrajectories,
} from '../../../src/env/text/index.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trajectories-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const origin = { source: 'expert of textcraft', licence: 'Apache-2.0' };

const trajectory = (id: string, ...values: string[]): Trajectory => ({
  item_id: id,
  conversations: values.map((value, i) =>
    i % 2 === 0 ? { from: 'human', loss: null, value } : { from: 'gpt', loss: i > 1, value },
  ),
});

async function fileOf(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

describe.each(['train.json', 'train.jsonl'])('an AgentTraj file %s', (name) => {
  it('is read as it was written: ids, order, origin', async () => {
    const items = [
      trajectory('webshop_6', 'rules', 'OK', 'a "quoted"\nline, [ } \\', 'Action: x'),
      { ...trajectory('textcraft_373', 'rules', 'OK', 'only an observation'), reward: 0.5 },
    ];
    const path = join(folder, `round-${name}`);
    await writeTrajectories(path, items, origin);
    expect(await readTrajectories(path)).toEqual({ items, origin });
  });

  it('may be empty', async () => {
    const path = join(folder, `empty-${name}`);
    await writeTrajectories(path, [], origin);
    expect(await readTrajectories(path)).toEqual({ items: [], origin });
  });
});

describe('the files', () => {
  it('are what AgentGym writes: an array of conversations and item_id', async () => {
    const path = await fileOf(
      'published.json',
      `[
  {
    "conversations": [
      {"from": "human", "loss": null, "value": "rules"},
      {"from": "gpt", "loss": false, "value": "OK"},
      {"from": "human", "loss": null, "value": "look"},
      {"from": "gpt", "loss": true, "value": "Action: go"}
    ],
    "item_id": "webshop_6"
  }
]`,
    );
    const { items, origin: none } = await readTrajectories(path);
    expect(items).toEqual([trajectory('webshop_6', 'rules', 'OK', 'look', 'Action: go')]);
    expect(none).toBeNull();
  });

  it('written by us are plain JSON for any reader', async () => {
    const path = join(folder, 'plain.json');
    const items = [trajectory('maze_1', 'a', 'b'), trajectory('maze_2', 'c', 'd')];
    await writeTrajectories(path, items, origin);
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual(items);
  });

  it('of AgentEval have tasks alone', async () => {
    const path = join(folder, 'eval.json');
    await writeFile(path, '[{"item_id": "maze_3", "conversations": []}, {"item_id": "maze_4"}]');
    const { items } = await readEvaluationItems(path);
    expect(items).toEqual([
      { item_id: 'maze_3', conversations: [] },
      { item_id: 'maze_4', conversations: null },
    ]);
    await writeEvaluationItems(path, items, origin);
    expect(await readEvaluationItems(path)).toEqual({ items, origin });
  });
});

describe('a bad file', () => {
  const good = JSON.stringify(trajectory('maze_1', 'a', 'b'));
  const bad = (change: object): string => JSON.stringify({ ...trajectory('maze_1', 'a', 'b'), ...change });
  const message = (from: string, loss: unknown) => ({ from, loss, value: 'x' });

  it.each([
    ['no id', bad({ item_id: undefined }), /item_id/],
    ['an id without a task', bad({ item_id: 'maze' }), /item_id: must be the name/],
    ['a key too many', bad({ extra: 1 }), /extra/],
    ['no messages', bad({ conversations: [] }), /conversations/],
    [
      'another speaker',
      bad({ conversations: [message('human', null), message('user', true)] }),
      /conversations\.1/,
    ],
    [
      'two turns of one side',
      bad({ conversations: [message('human', null), message('human', null)] }),
      /conversations\.1: .*expected gpt, got human/,
    ],
    [
      'the agent first',
      bad({ conversations: [message('gpt', true), message('human', null)] }),
      /expected human, got gpt/,
    ],
    [
      'an observation to learn',
      bad({ conversations: [message('human', true), message('gpt', true)] }),
      /conversations\.0\.loss/,
    ],
    [
      'an action without loss',
      bad({ conversations: [message('human', null), message('gpt', null)] }),
      /conversations\.1\.loss/,
    ],
    ['text for a reward', bad({ reward: '1' }), /reward/],
    ['no object', '5', /is no valid item/],
    ['broken JSON', '{"item_id": "maze_1", }', /is not JSON/],
  ])('with %s is named by file and line', async (name, item, problem) => {
    const array = await fileOf(`bad ${name}.json`, `[\n${good},\n\n${item},\n${good}\n]\n`);
    await expect(readTrajectories(array)).rejects.toThrow(InputError);
    await expect(readTrajectories(array)).rejects.toThrow(problem);
    await expect(readTrajectories(array)).rejects.toThrow(`${array}:4`);
    const lines = await fileOf(`bad ${name}.jsonl`, `${good}\n\n${item}\n${good}\n`);
    await expect(readTrajectories(lines)).rejects.toThrow(problem);
    await expect(readTrajectories(lines)).rejects.toThrow(`${lines}:3`);
  });

  it.each([
    ['', ':1 is not a JSON array: it does not begin with ['],
    ['{"a": 1}', ':1 is not a JSON array: it does not begin with ['],
    [`[\n${good}`, 'its end is missing'],
    [`[\n${good},\n{"item_id": "ma`, ':3 is not a JSON array: its end is missing'],
    [`[\n${good}\n]\n]`, ':4 is not a JSON array: there is more after its end'],
    [`[${good},]`, 'an element is missing'],
    [`[${good}}`, 'unexpected }'],
  ])('that is not a whole array: %#', async (text, problem) => {
    const path = await fileOf('array.json', text);
    await expect(readTrajectories(path)).rejects.toThrow(InputError);
    await expect(readTrajectories(path)).rejects.toThrow(problem);
  });

  it('that is not there is a storage error', async () => {
    await expect(readTrajectories(join(folder, 'nothing.json'))).rejects.toThrow(StorageError);
  });
});

describe('an origin', () => {
  it('is not believed of another content', async () => {
    const path = join(folder, 'changed.json');
    await writeTrajectories(path, [trajectory('maze_1', 'a', 'b')], origin);
    await writeFile(path, JSON.stringify([trajectory('maze_2', 'a', 'b')]));
    await expect(readTrajectories(path)).rejects.toThrow(/is not the file that .*origin\.json describes/);
  });

  it('must be whole', async () => {
    const path = join(folder, 'broken-origin.json');
    await writeTrajectories(path, [], origin);
    await writeFile(`${path}.origin.json`, '{"source": "x"}');
    await expect(readTrajectories(path)).rejects.toThrow(/licence/);
    await writeFile(`${path}.origin.json`, '{');
    await expect(readTrajectories(path)).rejects.toThrow(/is not JSON/);
  });

  it('needs a source and a licence', async () => {
    const path = join(folder, 'no-licence.json');
    await expect(writeTrajectories(path, [], { source: 'x', licence: '' })).rejects.toThrow(
      /its licence is not named/,
    );
    await expect(writeTrajectories(path, [], { source: '', licence: 'x' })).rejects.toThrow(
      /its source is not named/,
    );
    await expect(readTrajectories(path)).rejects.toThrow(StorageError);
  });
});

describe('item ids', () => {
  it('are a name and a task', () => {
    expect(itemIdOf('random-maze', 12)).toBe('random-maze_12');
    expect(taskOfItem('random-maze_12')).toEqual({ family: 'random-maze', task: 12 });
    expect(taskOfItem('sciworld_test_7')).toEqual({ family: 'sciworld_test', task: 7 });
  });

  it.each(['maze', 'maze_', '_3', 'maze_x', 'a b_1'])('%s is none', (id) => {
    expect(() => taskOfItem(id)).toThrow(InputError);
  });
});
