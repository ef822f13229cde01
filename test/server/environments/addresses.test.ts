import { describe, expect, it } from 'vitest';
import { textFamily } from '../../../src/env/index.ts';
import { echoFamily } from '../../env/text/agentgym/echo-family.ts';
import { call, create, serve } from './served.ts';

/** Requests as AgentGym's Python clients send them, and replies as its servers give them. */
describe('TextCraft', () => {
  it('speaks as the server of AgentGym', async () => {
    const { url } = await serve(echoFamily('textcraft'));
    // The client sends a folder of its own, which the server passes over.
    const [status, made] = await call(`${url}/create`, {
      minecraft_dir: 'agentenv_textcraft/',
      commands: null,
      goal: null,
    });
    const { id } = made as { id: number };
    expect([status, made]).toEqual([
      200,
      { id, observation: 'task 0 seed none heard nothing', reward: 0, done: false },
    ]);
    expect(await call(`${url}/reset`, { id, data_idx: 1003 })).toEqual([
      200,
      { id, observation: 'task 3 seed none heard nothing', reward: 0, done: false },
    ]);
    const stepped = { observation: 'task 3 seed none heard penny', reward: 0.25, done: false };
    expect(await call(`${url}/step`, { action: 'penny', id })).toEqual([200, stepped]);
    expect(await call(`${url}/observation?id=${id}`)).toEqual([200, stepped.observation]);
    expect(await call(`${url}/detail?id=${id}`)).toEqual([200, { ...stepped, deleted: false }]);
    expect(await call(`${url}/close`, { id })).toEqual([200, true]);
    expect(await call(`${url}/close`, { id })).toEqual([200, false]);
    expect(await call(`${url}/`)).toEqual([200, 'q-ponder serves textcraft, 1000 tasks.']);
  });

  it('has goals of the next task for each instance, and tells commands and goal apart', async () => {
    const family = textFamily('textcraft');
    const { url } = await serve(family);
    await create(url);
    const { id } = (await create(url)) as { id: number };
    const { text } = await family.create().reset(1);
    const [, commands] = await call(`${url}/commands?id=${id}`);
    const [, goal] = await call(`${url}/goal?id=${id}`);
    expect(`${commands}\n\nGoal: ${goal}`).toBe(text);
    // They are the episode's, whatever was seen last.
    await call(`${url}/step`, { id, action: 'inventory' });
    expect(await call(`${url}/goal?id=${id}`)).toEqual([200, goal]);
  });

  it('refuses recipes of its client, which it would not serve', async () => {
    const { url } = await serve(echoFamily('textcraft'));
    expect(await call(`${url}/create`, { commands: 'craft 1 a using 1 b', goal: 'a' })).toEqual([
      422,
      { error: 'recipes and goals of your own are not served: leave them out', code: 'BAD_REQUEST' },
    ]);
  });
});

describe('BabyAI', () => {
  it('speaks as the server of AgentGym, with the sum of rewards as the score', async () => {
    const { url } = await serve(echoFamily('babyai'));
    const made = await create(url);
    const { id } = made as { id: number };
    expect(made).toEqual({ id });
    expect(await call(`${url}/reset`, { data_idx: 7, id })).toEqual([
      200,
      { observation: 'task 7 seed none heard nothing', reward: 0, score: 0, deleted: false, done: false },
    ]);
    await call(`${url}/step`, { action: 'penny', id });
    expect(await call(`${url}/step`, { action: 'penny', id })).toEqual([
      200,
      { observation: 'task 7 seed none heard penny, penny', reward: 0.25, score: 0.5, done: false },
    ]);
  });
});

describe('LMRL-Gym', () => {
  it('has Maze below its prefix', async () => {
    const server = await serve(textFamily('maze'));
    const url = `http://127.0.0.1:${server.port}/maze`;
    expect(server.url).toBe(url);
    const { id } = (await create(url)) as { id: number };
    const start = 'The goal is at position 8, 6. Your current position is at position 7, 6.';
    // The 19th game starts one step above the goal.
    expect(await call(`${url}/reset`, { game: 18, id })).toEqual([
      200,
      { observation: `${start} There are walls to your right, to your left.` },
    ]);
    expect(await call(`${url}/available_actions`)).toEqual([
      200,
      ['move left', 'move right', 'move up', 'move down'],
    ]);
    expect(await call(`${url}/step`, { action: 'move down', id })).toEqual([
      200,
      { observation: 'Success', reward: 1, done: true },
    ]);
    expect(await call(`${url}/reset`, { game: 25, id })).toEqual([
      422,
      { error: 'maze has no task 25: its tasks are 0 to 24', code: 'UNKNOWN_TASK' },
    ]);
  });

  it('has Wordle, whose client asks for the words before it begins', async () => {
    const { url } = await serve(echoFamily('wordle', 10));
    expect(url).toMatch(/\/wordle$/);
    const { id } = (await create(url)) as { id: number };
    expect(await call(`${url}/filtered_vocab?id=${id}`)).toEqual([200, ['say', 'finish']]);
    // Game 23 of 10 words: the fourth word of the third order.
    expect(await call(`${url}/reset`, { seed: 23, id })).toEqual([
      200,
      { id, observation: 'task 3 seed 2 heard nothing' },
    ]);
  });
});

describe('SearchQA', () => {
  it('speaks as the server of AgentGym', async () => {
    const { url } = await serve(echoFamily('searchqa'));
    const [, id] = await call(`${url}/create`, { id: 0 });
    expect(id).toEqual(expect.any(Number));
    expect(await call(`${url}/reset`, { id: 12, env_idx: id })).toEqual([
      200,
      'task 12 seed none heard nothing',
    ]);
    expect(await call(`${url}/observation?env_idx=${id}`)).toEqual([200, 'task 12 seed none heard nothing']);
    expect(await call(`${url}/step`, { action: 'finish', env_idx: id })).toEqual([
      200,
      { observation: 'task 12 seed none heard finish', reward: 1, done: true, info: null },
    ]);
    expect(await call(`${url}/close`, { env_idx: id })).toEqual([200, true]);
  });
});

describe('SQLGym', () => {
  it('speaks as the server of AgentGym', async () => {
    const { url } = await serve(echoFamily('sqlgym'));
    const id = await create(url);
    expect(await call(`${url}/reset`, { item_id: 5, env_idx: id })).toEqual([
      200,
      ['task 5 seed none heard nothing', null],
    ]);
    expect(await call(`${url}/step`, { action: 'penny', env_idx: id })).toEqual([
      200,
      { state: 'task 5 seed none heard penny', reward: 0.25, done: false, info: null },
    ]);
  });
});
