/**
 * Environments on AgentGym's servers, as a family like those that run in this process.
 *
 * ```ts
 * const family = createAgentGymFamily({ environment: 'textcraft', baseUrl: 'http://127.0.0.1:36001', tasks: 544 });
 * const environment = family.create();
 * const { text } = await environment.reset(0);
 * const { reward, done } = await environment.step('get 1 oak log');
 * await environment.close();
 * await family.close();
 * ```
 *
 * What holds:
 * - A reply is an observation or an EnvironmentFailure. HTTP 200 with an error in its body, cut JSON, a field of
 *   another type, a stall and a broken connection are failures; none of them is a reward of 0.
 * - What failed is tried on a fresh instance; an episode under way is brought to the same place on it, where the world
 *   is the same for the same actions, and every observation on the way is compared with the one got before.
 * - Every instance that was made is asked to close, after failures and interruptions too.
 */
export type { AgentGymCounts } from './counts.ts';
export { type AgentGymFamily, type AgentGymOptions, createAgentGymFamily } from './family.ts';
export { AGENTGYM_NAMES, type AgentGymName } from './protocol.ts';
