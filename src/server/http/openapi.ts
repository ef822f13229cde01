import { z } from 'zod';
import type { ServerSettings } from '../settings.ts';
import { chatReplySchema, chatRequestSchema } from './chat-schema.ts';
import {
  batchReplySchema,
  batchRequestSchema,
  compareReplySchema,
  compareRequestSchema,
  errorSchema,
  rewardsReplySchema,
  rewardsRequestSchema,
  scoreOptionsShape,
  scoreReplySchema,
  scoreRequestSchema,
} from './schemas.ts';

type JsonObject = { [key: string]: unknown };

const inputOf = (schema: z.ZodType): JsonObject =>
  z.toJSONSchema(schema, { io: 'input', target: 'openapi-3.0', unrepresentable: 'any' }) as JsonObject;
const outputOf = (schema: z.ZodType): JsonObject =>
  z.toJSONSchema(schema, { io: 'output', target: 'openapi-3.0', unrepresentable: 'any' }) as JsonObject;

const json = (schema: JsonObject): JsonObject => ({ 'application/json': { schema } });

const FAILURES: readonly (readonly [number, string])[] = [
  [400, 'The request cannot be understood'],
  [401, 'A token is needed'],
  [413, 'More bytes, pixels or pictures than allowed'],
  [415, 'A Content-Type that is not read'],
  [422, 'A picture or text that cannot be used'],
  [429, 'The queue is full, or too many requests in a minute; Retry-After says how long to wait'],
  [503, 'Not ready, stopping, or the worker has ended; send the request again'],
  [504, 'No answer within the time allowed'],
];

const failures = (): JsonObject =>
  Object.fromEntries(
    FAILURES.map(([status, description]) => [
      String(status),
      { description, content: json({ $ref: '#/components/schemas/Error' }) },
    ]),
  );

interface Operation {
  summary: string;
  request?: JsonObject;
  parameters?: JsonObject[];
  reply: JsonObject;
  open?: boolean;
}

const operation = ({ summary, request, parameters, reply, open = false }: Operation): JsonObject => ({
  summary,
  ...(parameters === undefined ? {} : { parameters }),
  ...(request === undefined ? {} : { requestBody: { required: true, content: request } }),
  responses: {
    '200': { description: 'Done', content: reply },
    ...(request === undefined ? {} : failures()),
  },
  ...(open ? { security: [] } : {}),
});

const text = { 'text/plain': { schema: { type: 'string' } } };
const file = { type: 'string', format: 'binary' };

/** The OpenAPI description of the server, from the very schemas that requests are read with. */
export function openApi({ limits, name }: ServerSettings): JsonObject {
  const options = inputOf(z.object(scoreOptionsShape(limits))).properties as Record<string, JsonObject>;
  const parameters = Object.entries(options).map(([key, schema]) => ({ name: key, in: 'query', schema }));
  const form = (fields: JsonObject): JsonObject => ({
    'multipart/form-data': { schema: { type: 'object', properties: { ...fields, ...options } } },
  });
  const raw = { 'image/*': { schema: file }, 'application/octet-stream': { schema: file } };
  const several = { type: 'array', items: file };
  return {
    openapi: '3.0.3',
    info: {
      title: 'q-ponder',
      version: '1',
      description: `Scores the quality of pictures from 1 to 5, with the reasons. Model: ${name}.`,
    },
    security: [{ bearer: [] }],
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      schemas: { Error: outputOf(errorSchema) },
    },
    paths: {
      '/v1/score': {
        post: operation({
          summary: 'Score one picture',
          parameters,
          request: { ...raw, ...form({ image: file }), ...json(inputOf(scoreRequestSchema(limits))) },
          reply: json(outputOf(scoreReplySchema)),
        }),
      },
      '/v1/score/batch': {
        post: operation({
          summary: 'Score several pictures; one that cannot be scored does not stop the others',
          parameters,
          request: { ...form({ images: several }), ...json(inputOf(batchRequestSchema(limits))) },
          reply: json(outputOf(batchReplySchema)),
        }),
      },
      '/v1/compare': {
        post: operation({
          summary: 'Compare two pictures',
          parameters,
          request: { ...form({ a: file, b: file }), ...json(inputOf(compareRequestSchema(limits))) },
          reply: json(outputOf(compareReplySchema)),
        }),
      },
      '/v1/chat/completions': {
        post: operation({
          summary: 'Ask in the form of OpenAI’s chat completions, pictures as data URLs; streams if asked to',
          request: json(inputOf(chatRequestSchema(limits))),
          reply: {
            ...json(outputOf(chatReplySchema)),
            'text/event-stream': { schema: { type: 'string' } },
          },
        }),
      },
      '/v1/rewards': {
        post: operation({
          summary: 'Rewards for other trainers, in the form of OpenRLHF’s remote reward models',
          request: json(inputOf(rewardsRequestSchema(limits))),
          reply: json(outputOf(rewardsReplySchema)),
        }),
      },
      '/v1/models': { get: operation({ summary: 'The model in use', reply: json({ type: 'object' }) }) },
      '/v1/models/reload': {
        post: operation({
          summary: 'Load the model folder anew, where the server allows it; requests go on meanwhile',
          reply: json({ type: 'object' }),
        }),
      },
      '/healthz': { get: operation({ summary: 'The process answers', reply: text, open: true }) },
      '/readyz': {
        get: operation({ summary: 'A model is loaded (200) or not (503)', reply: text, open: true }),
      },
      '/metrics': { get: operation({ summary: 'Counts and times, for Prometheus', reply: text }) },
      '/openapi.json': {
        get: operation({ summary: 'This description', reply: json({ type: 'object' }), open: true }),
      },
    },
  };
}
