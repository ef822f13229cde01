import type { AgentGymName, AgentGymProtocol } from './protocol.ts';
import * as replies from './replies.ts';

const asItIs = (action: string): string => action;

/** BabyAI names the possible actions at the end of each observation. */
function actionsInText(observation: string): string[] | null {
  const list = /\nAvailable actions: \[(.*)\]\s*$/s.exec(observation)?.[1];
  return list === undefined ? null : [...list.matchAll(/"([^"]*)"/g)].map((match) => match[1] as string);
}

/** WebArena looks for the action between triple backticks. */
const fenced = (action: string): string => (action.includes('```') ? action : `\`\`\`${action}\`\`\``);

/** The statement alone, where an agent has put it into a block of code. */
const unfenced = (action: string): string =>
  action.replace(/^\s*```(?:sql)?\s*/i, '').replace(/\s*```\s*$/, '');

/** First item of each part of SearchQA's items, in their order. */
const SEARCHQA_PARTS: readonly (readonly [first: number, name: string])[] = [
  [0, 'nq test'],
  [3611, 'triviaqa test'],
  [14924, 'popqa test'],
  [29191, 'hotpotqa test'],
  [36596, '2wiki test'],
  [49172, 'musique test'],
  [51589, 'bamboogle test'],
  [51714, 'nq train'],
  [130882, 'hotpotqa train'],
];
const searchQaPart = (task: number): string =>
  SEARCHQA_PARTS.findLast(([first]) => task >= first)?.[1] ?? 'searchqa';

const BABYAI_LEVELS = 40;
const SQLGYM_TRAIN = 9428;

/** What differs from server to server. */
export const AGENTGYM_PROTOCOLS: Readonly<Record<AgentGymName, AgentGymProtocol>> = {
  textcraft: {
    prefix: '',
    idField: 'id',
    create: { body: {}, reply: replies.idReply },
    reset: { body: (task) => ({ data_idx: task }), reply: replies.openingReply },
    step: { action: asItIs, reply: replies.stepReply },
    actions: null,
    replay: true,
    tasks: null,
    keepMarks: false,
  },
  babyai: {
    prefix: '',
    idField: 'id',
    create: { body: null, reply: replies.idReply },
    reset: { body: (task) => ({ data_idx: task }), reply: replies.openingReply },
    step: { action: asItIs, reply: replies.scoredStepReply(1) },
    actions: { inText: actionsInText },
    replay: true,
    tasks: null,
    keepMarks: false,
    group: (task) => `level ${(task % BABYAI_LEVELS) + 1}`,
  },
  sciworld: {
    prefix: '',
    idField: 'id',
    create: { body: null, reply: replies.idReply },
    reset: { body: (task) => ({ data_idx: task }), reply: replies.openingWithTask },
    step: { action: asItIs, reply: replies.scoredStepReply(100) },
    // Its hints are patterns such as "open OBJ", not actions.
    actions: null,
    replay: true,
    tasks: null,
    keepMarks: true,
  },
  searchqa: {
    prefix: '',
    idField: 'env_idx',
    create: { body: { id: 0 }, reply: replies.bareId },
    reset: { body: (task) => ({ id: task }), reply: replies.openingString },
    opening: { path: '/observation', reply: replies.textReply, join: (_, asked) => asked },
    step: { action: asItIs, reply: replies.stepReply },
    actions: null,
    replay: true,
    tasks: 221_329,
    keepMarks: true,
    group: searchQaPart,
  },
  webarena: {
    prefix: '',
    idField: 'env_idx',
    create: { body: null, reply: replies.envIdxReply },
    reset: { body: (task) => ({ seed: 0, idx: task }), reply: replies.openingLater },
    // The reset's own observation is the page alone; this one has the objective as well.
    opening: { path: '/observation', reply: replies.textReply, join: (_, asked) => asked },
    step: { action: fenced, reply: replies.terminatedReply },
    actions: null,
    // Orders placed and posts written stay on its sites.
    replay: false,
    tasks: null,
    keepMarks: true,
  },
  alfworld: {
    prefix: '',
    idField: 'id',
    create: { body: null, reply: replies.idReply },
    reset: { body: (task) => ({ game: task, world_type: 'Text' }), reply: replies.openingWithActions },
    step: { action: asItIs, reply: replies.stepReply },
    actions: { path: '/available_actions', reply: replies.listReply },
    replay: true,
    tasks: null,
    keepMarks: true,
  },
  webshop: {
    prefix: '',
    idField: 'env_idx',
    create: { body: null, reply: replies.bareId },
    reset: { body: (task) => ({ session_id: task }), reply: replies.openingPair },
    opening: { path: '/observation', reply: replies.textReply, join: (_, asked) => asked },
    step: { action: asItIs, reply: replies.stateReply },
    actions: { path: '/available_actions', reply: replies.clickablesReply },
    replay: true,
    tasks: null,
    keepMarks: true,
  },
  sqlgym: {
    prefix: '',
    idField: 'env_idx',
    create: { body: null, reply: replies.bareId },
    reset: { body: (task) => ({ item_id: task }), reply: replies.openingPair },
    opening: { path: '/observation', reply: replies.textReply, join: (_, asked) => asked },
    step: { action: unfenced, reply: replies.stateReply },
    actions: null,
    replay: true,
    tasks: 10_962,
    keepMarks: true,
    group: (task) => (task < SQLGYM_TRAIN ? 'bird train' : 'bird dev'),
  },
  maze: {
    prefix: '/maze',
    idField: 'id',
    create: { body: null, reply: replies.idReply },
    reset: { body: (task) => ({ game: task }), reply: replies.openingReply },
    step: { action: asItIs, reply: replies.stepReply },
    actions: { path: '/available_actions', reply: replies.listReply },
    replay: true,
    tasks: 25,
    keepMarks: false,
  },
  wordle: {
    prefix: '/wordle',
    idField: 'id',
    create: { body: null, reply: replies.idReply },
    reset: { body: (task) => ({ seed: task }), reply: replies.openingReply },
    opening: {
      path: '/filtered_vocab',
      reply: replies.listReply.transform((words) => words.join(', ')),
      join: (reset, words) => `The words are: ${words}.\n${reset ?? ''}`,
    },
    step: { action: asItIs, reply: replies.stepReply },
    actions: null,
    // AgentGym's server draws the hidden word anew after each guess.
    replay: false,
    tasks: null,
    keepMarks: false,
  },
};
