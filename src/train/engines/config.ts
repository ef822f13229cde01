import { z } from 'zod';
import { unionOfKinds } from '../../rl/index.ts';

/** What a server engine needs, whatever the server. */
const serverSettings = {
  baseUrl: z
    .string()
    .min(1)
    .describe('address of the server without a path, http://127.0.0.1:8000; a key goes into the environment'),
  adapterFolder: z
    .string()
    .min(1)
    .describe(
      'folder that trainer and server share; adapters are saved there as v000012 and the last two kept',
    ),
  adapterFolderOnServer: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe('the same folder as the server sees it, where its path differs (containers, mounts)'),
  adapterName: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'allowed are letters, digits, ".", "_" and "-"')
    .default('q-ponder')
    .describe(
      'first part of the names of adapters on the server; runs that share a server need different ones',
    ),
  concurrency: z
    .int()
    .min(1)
    .max(1024)
    .default(32)
    .describe('prompts in flight; each asks for a whole group'),
  timeoutSeconds: z
    .number()
    .positive()
    .max(86_400)
    .default(600)
    .describe('for the answer to one prompt, to the last byte'),
  stallSeconds: z
    .number()
    .positive()
    .max(3600)
    .default(15)
    .describe('while answers are awaited /health is asked this often; two calls unanswered end the try'),
  retries: z
    .int()
    .min(0)
    .max(100)
    .default(8)
    .describe('further tries after a broken connection, a stall, 429 or 5xx; 8 wait two to four minutes'),
  firstDelaySeconds: z
    .number()
    .min(0)
    .max(60)
    .default(1)
    .describe('wait before the first further try; each later one doubles it, up to a minute'),
  maxStaleness: z
    .int()
    .min(0)
    .default(0)
    .describe('answers of adapters up to so many versions old are kept, with their version'),
  checkLogProbabilities: z
    .boolean()
    .default(true)
    .describe('ask once whether the log-probabilities are at the sampling temperature, by 16 tokens at 1000'),
};

export const localEngineConfigSchema = z.strictObject({ kind: z.literal('local') });
export const vllmEngineConfigSchema = z.strictObject({ kind: z.literal('vllm'), ...serverSettings });
export const sglangEngineConfigSchema = z.strictObject({ kind: z.literal('sglang'), ...serverSettings });

/** Where rollouts are sampled: docs/rollout-servers.md. */
export const rolloutEngineConfigSchema = unionOfKinds([
  localEngineConfigSchema,
  vllmEngineConfigSchema,
  sglangEngineConfigSchema,
]).describe(
  'local: by the trainer itself; vllm, sglang: by a server that is given the adapter after each update',
);

export type RolloutEngineConfig = z.infer<typeof rolloutEngineConfigSchema>;
export type ServerEngineConfig = Exclude<RolloutEngineConfig, { kind: 'local' }>;
