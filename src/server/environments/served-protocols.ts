import type { EpisodeState, Instance } from './instances.ts';
import type { ServedProtocol, ServedProtocolName } from './served-protocol.ts';

const observed = ({ text, reward, done }: EpisodeState) => ({ observation: text, reward, done });
const scored = ({ text, reward, score, done }: EpisodeState) => ({ observation: text, reward, score, done });
const stated = ({ text, reward, done }: EpisodeState) => ({ state: text, reward, done, info: null });

const exactly = (task: number) => ({ task });

const detail = async (instance: Instance) => ({ ...observed(instance.begun()), deleted: false });

/** TextCraft's first observation as its two parts: crafting commands, then the goal. */
const GOAL = '\n\nGoal: ';
async function openingPart(instance: Instance, part: 0 | 1): Promise<string> {
  return instance.opening.split(GOAL)[part] ?? '';
}

/** The words of Wordle, as one writes them: "shire". */
async function vocabulary(instance: Instance): Promise<string[]> {
  // AgentGym's client asks for them before its first reset.
  if (instance.state === null) await instance.reset(0);
  return ((await instance.availableActions()) ?? []).map((action) => action.replaceAll(' ', ''));
}

export const SERVED: Readonly<Record<ServedProtocolName, ServedProtocol>> = {
  textcraft: {
    prefix: '',
    idField: 'id',
    taskField: 'data_idx',
    defaultTask: 0,
    // Any number is a task: the list of goals is gone through again and again.
    choose: (number, tasks) => ({ task: number % tasks }),
    beginsAtCreate: true,
    created: (id, state) => ({ id, ...observed(state as EpisodeState) }),
    opened: (id, state) => ({ id, ...observed(state) }),
    stepped: observed,
    questions: {
      '/detail': detail,
      '/commands': (instance) => openingPart(instance, 0),
      '/goal': (instance) => openingPart(instance, 1),
    },
    actionsPath: null,
  },
  babyai: {
    prefix: '',
    idField: 'id',
    taskField: 'data_idx',
    defaultTask: null,
    choose: exactly,
    beginsAtCreate: false,
    created: (id) => ({ id }),
    opened: (_, state) => ({ ...scored(state), deleted: false }),
    stepped: scored,
    questions: {},
    actionsPath: null,
  },
  maze: {
    prefix: '/maze',
    idField: 'id',
    taskField: 'game',
    defaultTask: null,
    choose: exactly,
    beginsAtCreate: false,
    created: (id) => ({ id }),
    opened: (_, { text }) => ({ observation: text }),
    stepped: observed,
    questions: { '/detail': detail },
    actionsPath: '/available_actions',
  },
  wordle: {
    prefix: '/wordle',
    idField: 'id',
    taskField: 'seed',
    defaultTask: null,
    // Any number is a game: past the last word the words come again, in another order.
    choose: (number, tasks) => ({ task: number % tasks, seed: Math.floor(number / tasks) }),
    beginsAtCreate: false,
    created: (id) => ({ id }),
    opened: (id, { text }) => ({ id, observation: text }),
    stepped: observed,
    questions: { '/detail': detail, '/filtered_vocab': vocabulary },
    actionsPath: null,
  },
  searchqa: {
    prefix: '',
    idField: 'env_idx',
    taskField: 'id',
    defaultTask: null,
    choose: exactly,
    beginsAtCreate: false,
    created: (id) => id,
    opened: (_, { text }) => text,
    stepped: (state) => ({ ...observed(state), info: null }),
    questions: {},
    actionsPath: null,
  },
  sqlgym: {
    prefix: '',
    idField: 'env_idx',
    taskField: 'item_id',
    defaultTask: null,
    choose: exactly,
    beginsAtCreate: false,
    created: (id) => id,
    opened: (_, { text }) => [text, null],
    stepped: stated,
    questions: {},
    actionsPath: null,
  },
};

/** The protocol of a family: its own, where AgentGym has an environment of that name. */
export function protocolOf(family: string): ServedProtocolName {
  if (family === 'random-maze') return 'maze';
  return Object.hasOwn(SERVED, family) ? (family as ServedProtocolName) : 'textcraft';
}
