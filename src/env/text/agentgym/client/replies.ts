import { z } from 'zod';

/** Replies as AgentGym's servers write them. Fields that are not read may be there or not, and hold anything. */
const text = z.string();
const flag = z.boolean();
const points = z.number();

export const bareId = z.int();
const named = <T extends string>(field: T) => z.object({ [field]: z.int() } as Record<T, z.ZodInt>);
export const idReply = named('id').transform(({ id }) => id);
export const envIdxReply = named('env_idx').transform(({ env_idx }) => env_idx);

/** A reset whose reply is an object with the first observation. */
export const openingReply = z
  .object({ observation: text })
  .transform(({ observation }) => ({ text: observation }));

/** A reset whose reply is checked but not read: the observation is asked for after it. */
const unread = { text: null };
export const openingLater = z.object({ observation: text }).transform(() => unread);
/** SearchQA: a string alone. */
export const openingString = text.transform(() => unread);
/** WebShop and SQLGym: a string and a null. */
export const openingPair = z.tuple([text, z.null()]).transform(() => unread);

/** SciWorld: the task's description stands apart from what is seen. */
export const openingWithTask = z
  .object({ task_description: text, observation: text })
  .transform(({ task_description, observation }) => ({ text: `${task_description}\n${observation}` }));

/** ALFWorld: AgentGym shows the possible actions under the first observation. */
export const openingWithActions = z
  .object({ observation: text, available_actions: z.array(text) })
  .transform((reply) => ({
    text: `${reply.observation}\nAVAILABLE ACTIONS: ${reply.available_actions.join(',')}`,
  }));

export const stepReply = z
  .object({ observation: text, reward: points, done: flag })
  .transform(({ observation, reward, done }) => ({ text: observation, reward, done }));

/** With the score so far beside the step's own reward. Rewards of 0 to `full` become 0 to 1. */
export const scoredStepReply = (full: number) =>
  z
    .object({ observation: text, reward: points, score: points, done: flag })
    .transform(({ observation, reward, done }) => ({ text: observation, reward: reward / full, done }));

/** WebShop and SQLGym call the observation a state. */
export const stateReply = z
  .object({ state: text, reward: points, done: flag })
  .transform(({ state, reward, done }) => ({ text: state, reward, done }));

/** WebArena, after Gymnasium: an episode ends by its own or by a limit. */
export const terminatedReply = z
  .object({ observation: text, reward: points, terminated: flag, truncated: flag })
  .transform(({ observation, reward, terminated, truncated }) => ({
    text: observation,
    reward,
    done: terminated || truncated,
  }));

export const textReply = text;
export const listReply = z.array(text);

/** WebShop: a search bar or not, and what can be clicked. */
export const clickablesReply = z
  .object({ has_search_bar: flag, clickables: z.array(text) })
  .transform(({ has_search_bar, clickables }) => [
    ...(has_search_bar ? ['search[keywords]'] : []),
    ...clickables.map((one) => `click[${one}]`),
  ]);
