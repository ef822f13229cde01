import { z } from 'zod';
import { SERVED_PROTOCOLS } from './served-protocol.ts';

/** Settings of an environment server. */
export const environmentServerSettingsSchema = z.strictObject({
  host: z.string().min(1).default('127.0.0.1').describe('address to listen on; 0.0.0.0 for all'),
  port: z.int().min(0).max(65535).default(36001).describe('0 takes a free one'),
  protocol: z
    .enum(SERVED_PROTOCOLS)
    .nullable()
    .default(null)
    .describe('whose addresses and bodies to speak; by the name of the environment if not given'),
  instances: z.int().positive().max(1_000_000).default(4096).describe('instances that may be open at once'),
  idleSeconds: z
    .number()
    .positive()
    .max(86_400)
    .default(1800)
    .describe('after so long without a request an instance is closed'),
  bodyBytes: z
    .int()
    .positive()
    .default(256 * 1024)
    .describe('bytes of one request'),
  errors: z
    .enum(['status', 'body'])
    .default('status')
    .describe("errors with a status of their own, or with 200 as AgentGym's servers send them"),
  drainTimeoutMs: z
    .int()
    .positive()
    .default(10_000)
    .describe('what a stopping server waits for its requests'),
});
export type EnvironmentServerSettings = z.infer<typeof environmentServerSettingsSchema>;
/** As a caller writes them: what is left out has its default. */
export type EnvironmentServerSettingsInput = z.input<typeof environmentServerSettingsSchema>;
