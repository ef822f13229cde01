import { availableParallelism } from 'node:os';
import { z } from 'zod';
import { SCORING_MODES } from '../scoring/index.ts';

const MiB = 1024 * 1024;

/** What a client may send. Everything beyond is refused before it costs memory or time. */
const limitsSchema = z.strictObject({
  imageBytes: z
    .int()
    .positive()
    .default(20 * MiB)
    .describe('encoded bytes of one picture'),
  bodyBytes: z
    .int()
    .positive()
    .default(64 * MiB)
    .describe('bytes of one request'),
  bufferedBytes: z
    .int()
    .positive()
    .default(512 * MiB)
    .describe('bytes of all request bodies held at once'),
  pixels: z.int().positive().default(50_000_000).describe('width times height of one picture'),
  images: z.int().positive().default(32).describe('pictures in one request'),
  promptCharacters: z.int().positive().default(8000).describe('characters of all texts of a conversation'),
  messages: z.int().positive().default(32).describe('messages of a conversation'),
  newTokens: z.int().positive().default(256).describe('tokens that one answer may have'),
  samples: z.int().positive().default(8).describe('answers drawn for one picture'),
});

const batchingSchema = z.strictObject({
  maxImages: z.int().min(1).max(256).default(16).describe('pictures in one pass'),
  windowMs: z.number().min(0).max(1000).default(8).describe('how long a picture waits for others'),
});

const securitySchema = z.strictObject({
  corsOrigins: z.array(z.string().min(1)).default([]).describe('origins whose pages may call this server'),
  requestsPerMinute: z
    .int()
    .positive()
    .nullable()
    .default(null)
    .describe('per token, or per address without'),
  allowReload: z.boolean().default(false).describe('offer POST /v1/models/reload'),
  allowRemoteUrls: z.boolean().default(false).describe('fetch pictures by http(s) address'),
  allowSvg: z.boolean().default(false).describe('render SVG drawings'),
});

/** Settings of a server. Tokens are no part of them: they are given to `startServer` apart. */
export const serverSettingsSchema = z.strictObject({
  host: z.string().min(1).default('127.0.0.1').describe('address to listen on; 0.0.0.0 for all'),
  port: z.int().min(0).max(65535).default(8000).describe('0 takes a free one'),
  name: z
    .string()
    .regex(/^[\w.:/-]{1,100}$/)
    .default('q-ponder')
    .describe('how clients call the model'),
  prompt: z.string().min(1).default('student/quality.v1'),
  mode: z
    .enum(SCORING_MODES)
    .default('expected')
    .describe('how a score is read where a request does not say'),
  workers: z.int().min(1).max(64).default(1).describe('threads with a model each'),
  threads: z
    .int()
    .positive()
    .default(availableParallelism())
    .describe('threads inside one operator, of each worker'),
  queue: z.int().positive().default(128).describe('pictures admitted and not answered yet'),
  requestTimeoutMs: z.int().positive().default(30_000).describe('from the whole request to its answer'),
  drainTimeoutMs: z
    .int()
    .positive()
    .default(60_000)
    .describe('what a stopping server waits for its requests'),
  warmUp: z.boolean().default(true).describe('compile the usual graphs before the server is ready'),
  limits: limitsSchema.prefault({}),
  batching: batchingSchema.prefault({}),
  security: securitySchema.prefault({}),
});
export type ServerSettings = z.infer<typeof serverSettingsSchema>;
/** As a caller writes them: what is left out has its default. */
export type ServerSettingsInput = z.input<typeof serverSettingsSchema>;
export type ServerLimits = ServerSettings['limits'];
