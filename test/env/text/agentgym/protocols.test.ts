import { afterEach, describe, expect, it } from 'vitest';
import {
  type AgentGymName,
  type AgentGymOptions,
  createAgentGymFamily,
  type TextObservation,
} from '../../../../src/env/index.ts';
import { AGENTGYM_PROTOCOLS } from '../../../../src/env/text/agentgym/client/protocols.ts';
import { type ScriptedServer, scriptedServer } from './scripted-server.ts';

/** What goes over the wire in one short episode, written down from the servers and clients of AgentGym. */
interface Recording {
  environment: AgentGymName;
  options?: Partial<AgentGymOptions>;
  task: number;
  action: string;
  /** Each request with its reply. */
  wire: readonly (readonly [line: string, body: unknown, reply: unknown])[];
  opening: string;
  step: TextObservation;
  actions: string[] | null;
}

const RECORDINGS: readonly Recording[] = [
  {
    environment: 'textcraft',
    options: { tasks: 500 },
    task: 3,
    action: 'get 1 oak log',
    wire: [
      [
        'POST /create',
        {},
        { id: 7, observation: 'Crafting commands:\n\nGoal: craft x.', done: false, reward: 0 },
      ],
      [
        'POST /reset',
        { id: 7, data_idx: 3 },
        { id: 7, observation: 'Goal: craft y.', done: false, reward: 0 },
      ],
      [
        'POST /step',
        { id: 7, action: 'get 1 oak log' },
        { observation: 'Got 1 oak log', reward: 0, done: false },
      ],
      ['POST /close', { id: 7 }, true],
    ],
    opening: 'Goal: craft y.',
    step: { text: 'Got 1 oak log', reward: 0, done: false },
    actions: null,
  },
  {
    environment: 'babyai',
    options: { tasks: 900 },
    task: 41,
    action: 'go to red ball 1',
    wire: [
      ['POST /create', null, { id: 0 }],
      [
        'POST /reset',
        { id: 0, data_idx: 41 },
        { observation: 'Your goal: go to the red ball', reward: 0, score: 0, deleted: false, done: false },
      ],
      [
        'POST /step',
        { id: 0, action: 'go to red ball 1' },
        {
          observation: 'A ball.\nAvailable actions: ["turn left", "turn right"]',
          reward: 0.25,
          score: 0.75,
          done: false,
        },
      ],
      ['POST /close', { id: 0 }, true],
    ],
    opening: 'Your goal: go to the red ball',
    step: {
      text: 'A ball.\nAvailable actions: ["turn left", "turn right"]',
      reward: 0.25,
      done: false,
    },
    actions: ['turn left', 'turn right'],
  },
  {
    environment: 'sciworld',
    options: { tasks: 2000 },
    task: 12,
    action: 'open door to kitchen',
    wire: [
      ['POST /create', null, { id: 1 }],
      [
        'POST /reset',
        { id: 1, data_idx: 12 },
        {
          task_name: 'boil',
          var_num: 12,
          task_description: 'Your task is to boil water.',
          observation: 'This room is called the hallway.',
          reward: 0,
          score: 0,
          deleted: false,
          done: false,
        },
      ],
      [
        'POST /step',
        { id: 1, action: 'open door to kitchen' },
        // Points of 100, here 17 for this step of 20 so far.
        { observation: 'The door is now open.', reward: 17, score: 20, done: false },
      ],
      ['POST /close', { id: 1 }, true],
    ],
    opening: 'Your task is to boil water.\nThis room is called the hallway.',
    step: { text: 'The door is now open.', reward: 0.17, done: false },
    actions: null,
  },
  {
    environment: 'searchqa',
    task: 51_600,
    action: '<answer>Lima</answer>',
    wire: [
      ['POST /create', { id: 0 }, 4],
      ['POST /reset', { env_idx: 4, id: 51_600 }, 'ok'],
      ['GET /observation?env_idx=4', null, 'Question: which city?'],
      [
        'POST /step',
        { env_idx: 4, action: '<answer>Lima</answer>' },
        { observation: 'Congratulations!', reward: 1, done: true, info: null },
      ],
      ['POST /close', { env_idx: 4 }, true],
    ],
    opening: 'Question: which city?',
    step: { text: 'Congratulations!', reward: 1, done: true },
    actions: [],
  },
  {
    environment: 'webarena',
    options: { tasks: 812 },
    task: 5,
    action: 'stop [42]',
    wire: [
      ['POST /create', null, { env_idx: 2 }],
      [
        'POST /reset',
        { env_idx: 2, seed: 0, idx: 5 },
        { observation: '[4] RootWebArea', sites: [], object: 'x' },
      ],
      ['GET /observation?env_idx=2', null, 'OBJECTIVE: count\nOBSERVATION: [4] RootWebArea'],
      [
        'POST /step',
        { env_idx: 2, action: '```stop [42]```' },
        { observation: 'page', reward: 1, terminated: true, truncated: false, info: {} },
      ],
      ['POST /close', { env_idx: 2 }, undefined],
    ],
    opening: 'OBJECTIVE: count\nOBSERVATION: [4] RootWebArea',
    step: { text: 'page', reward: 1, done: true },
    actions: [],
  },
  {
    environment: 'alfworld',
    options: { tasks: 2620 },
    task: 9,
    action: 'go to desk 1',
    wire: [
      ['POST /create', null, { id: 3 }],
      [
        'POST /reset',
        { id: 3, game: 9, world_type: 'Text' },
        {
          id: 3,
          observation: 'You are in a room.',
          available_actions: ['look', 'go to desk 1'],
          task_type: 'a/b',
        },
      ],
      [
        'POST /step',
        { id: 3, action: 'go to desk 1' },
        {
          observation: 'On the desk 1, you see a mug 1.',
          reward: 0.0,
          available_actions: ['look'],
          done: false,
        },
      ],
      ['GET /available_actions?id=3', null, ['look', 'take mug 1 from desk 1']],
      ['POST /close', { id: 3 }, true],
    ],
    opening: 'You are in a room.\nAVAILABLE ACTIONS: look,go to desk 1',
    step: { text: 'On the desk 1, you see a mug 1.', reward: 0, done: false },
    actions: ['look', 'take mug 1 from desk 1'],
  },
  {
    environment: 'webshop',
    options: { tasks: 4000 },
    task: 6,
    action: 'search[red shoes]',
    wire: [
      ['POST /create', null, 48_950_000],
      ['POST /reset', { env_idx: 48_950_000, session_id: 6 }, ['WebShop', null]],
      ['GET /observation?env_idx=48950000', null, 'WebShop [SEP] Instruction: [SEP] red shoes [SEP] Search'],
      [
        'POST /step',
        { env_idx: 48_950_000, action: 'search[red shoes]' },
        { state: 'Page 1', reward: 0, done: false, info: null },
      ],
      [
        'GET /available_actions?env_idx=48950000',
        null,
        { has_search_bar: true, clickables: ['b01', 'back to search'] },
      ],
      ['POST /close', { env_idx: 48_950_000 }, { closed: true }],
    ],
    opening: 'WebShop [SEP] Instruction: [SEP] red shoes [SEP] Search',
    step: { text: 'Page 1', reward: 0, done: false },
    actions: ['search[keywords]', 'click[b01]', 'click[back to search]'],
  },
  {
    environment: 'sqlgym',
    task: 9428,
    action: '```sql\nSELECT 1\n```',
    wire: [
      ['POST /create', null, 11],
      ['POST /reset', { env_idx: 11, item_id: 9428 }, ['CREATE TABLE t', null]],
      ['GET /observation?env_idx=11', null, 'CREATE TABLE t'],
      [
        'POST /step',
        { env_idx: 11, action: 'SELECT 1' },
        { state: '[(1,)]', reward: 1, done: true, info: null },
      ],
      ['POST /close', { env_idx: 11 }, { status: 404, detail: 'Not Found' }],
    ],
    opening: 'CREATE TABLE t',
    step: { text: '[(1,)]', reward: 1, done: true },
    actions: [],
  },
  {
    environment: 'maze',
    task: 24,
    action: 'move down',
    wire: [
      ['POST /maze/create', null, { id: 5 }],
      ['POST /maze/reset', { id: 5, game: 24 }, { observation: 'The goal is at position 8, 6.' }],
      ['POST /maze/step', { id: 5, action: 'move down' }, { observation: 'Failure', reward: -1, done: true }],
      ['POST /maze/close', { id: 5 }, { status: 404, detail: 'Not Found' }],
    ],
    opening: 'The goal is at position 8, 6.',
    step: { text: 'Failure', reward: -1, done: true },
    actions: [],
  },
  {
    environment: 'wordle',
    options: { tasks: 980 },
    task: 8,
    action: 's h i r e',
    wire: [
      ['POST /wordle/create', null, { id: 6 }],
      ['POST /wordle/reset', { id: 6, seed: 8 }, { id: 6, observation: "Let's start Wordle!" }],
      ['GET /wordle/filtered_vocab?id=6', null, ['shire', 'panic']],
      [
        'POST /wordle/step',
        { id: 6, action: 's h i r e' },
        { observation: 'b b y b g', reward: 0, done: false },
      ],
      ['POST /wordle/close', { id: 6 }, { status: 404, detail: 'Not Found' }],
    ],
    opening: "The words are: shire, panic.\nLet's start Wordle!",
    step: { text: 'b b y b g', reward: 0, done: false },
    actions: null,
  },
];

let server: ScriptedServer | undefined;
afterEach(() => server?.close());

describe('an episode over the wire', () => {
  it.each(RECORDINGS)('of $environment sends and reads what its server does', async (recording) => {
    const { environment: name, options, task, action, wire } = recording;
    server = await scriptedServer((_line, _body, nth) => {
      const reply = wire[nth]?.[2];
      // WebArena says "closed" without quotes.
      if (reply === undefined) return (_request, response) => response.end('closed');
      const { status } = reply as { status?: number };
      return { json: reply, ...(status === undefined ? {} : { status }) };
    });
    const family = createAgentGymFamily({ environment: name, baseUrl: server.url, ...options });
    const environment = family.create();
    const opening = await environment.reset(task);
    const step = await environment.step(action);
    const actions = await environment.availableActions();
    await environment.close();
    expect({ opening, step, actions }).toEqual({
      opening: { text: recording.opening, reward: 0, done: false },
      step: recording.step,
      actions: recording.actions,
    });
    expect(server.seen).toEqual(wire.map(([line, body]) => ({ line, body })));
    expect(family.counts).toMatchObject({ requests: wire.length, created: 1, closed: 1, closeFailures: 0 });
  });

  it('takes the address with the prefix, as the clients of AgentGym are given it', async () => {
    const { wire } = RECORDINGS.find(({ environment }) => environment === 'maze') as Recording;
    server = await scriptedServer((_line, _body, nth) => ({ json: wire[nth]?.[2] }));
    const environment = createAgentGymFamily({
      environment: 'maze',
      baseUrl: `${server.url}/maze/`,
    }).create();
    await environment.reset(24);
    expect(server.seen.map(({ line }) => line)).toEqual(['POST /maze/create', 'POST /maze/reset']);
  });

  it('sends a seed beside the task', async () => {
    const { wire } = RECORDINGS[0] as Recording;
    server = await scriptedServer((_line, _body, nth) => ({ json: wire[nth]?.[2] }));
    const family = createAgentGymFamily({ environment: 'textcraft', baseUrl: server.url, tasks: 9 });
    await family.create().reset(3, 17);
    expect(server.seen[1]?.body).toEqual({ id: 7, data_idx: 3, world_seed: 17 });
  });
});

describe('an episode of WebArena', () => {
  it.each([
    [false, false, false],
    [true, false, true],
    [false, true, true],
  ])('terminated %s, truncated %s: done %s', (terminated, truncated, done) => {
    const reply = { observation: 'page', reward: 0, terminated, truncated, info: null };
    expect(AGENTGYM_PROTOCOLS.webarena.step.reply.parse(reply)).toEqual({ text: 'page', reward: 0, done });
  });
});

describe('a family', () => {
  const family = (options: Partial<AgentGymOptions> & Pick<AgentGymOptions, 'environment'>) =>
    createAgentGymFamily({ baseUrl: 'http://127.0.0.1:1', ...options });

  it('groups tasks as the data of AgentGym do', () => {
    const searchqa = family({ environment: 'searchqa' });
    expect([0, 3610, 3611, 51_713, 51_714, 221_328].map((task) => searchqa.group(task))).toEqual([
      'nq test',
      'nq test',
      'triviaqa test',
      'bamboogle test',
      'nq train',
      'hotpotqa train',
    ]);
    expect(family({ environment: 'babyai', tasks: 900 }).group(40)).toBe('level 1');
    expect(family({ environment: 'sqlgym' }).group(9428)).toBe('bird dev');
  });

  it('has no task beyond its number', async () => {
    const maze = family({ environment: 'maze' });
    await expect(maze.create().reset(25)).rejects.toMatchObject({
      code: 'INPUT',
      hint: 'its tasks are 0 to 24',
    });
  });

  it.each([
    [{ environment: 'textcraft' as const }, 'the number of tasks of textcraft is not known'],
    [{ environment: 'maze' as const, tasks: 0 }, 'the number of tasks is 0'],
    [{ environment: 'maze' as const, baseUrl: '127.0.0.1:36001' }, 'begins with 127.0.0.1:|is not a URL'],
    [{ environment: 'maze' as const, baseUrl: 'http://me:secret@host' }, 'holds a login'],
    [{ environment: 'gridworld' as AgentGymName }, 'there is no AgentGym environment gridworld'],
  ])('is refused with %j', (options, message) => {
    expect(() => family(options)).toThrow(new RegExp(message));
  });
});
