/**
 * Models behind OpenAI-compatible addresses: teachers, judges, and models to evaluate.
 *
 * ```ts
 * const client = createChatClient(
 *   { baseUrl: 'http://127.0.0.1:8000/v1', model: 'Qwen/Qwen2.5-VL-72B-Instruct', apiKey },
 *   { concurrency: 16, requestsPerMinute: 500, signal },
 * );
 * const [answer] = await client.ask({
 *   messages: [
 *     {
 *       role: 'user',
 *       content: [
 *         { type: 'image', url: imageDataUrl(jpegBytes, 'image/jpeg') },
 *         { type: 'text', text: 'How good is this picture?' },
 *       ],
 *     },
 *   ],
 *   temperature: 0,
 *   maxTokens: 256,
 * });
 * ```
 *
 * What holds:
 * - An answer has text. HTML pages, cut JSON, replies without choices or text, stalls and broken connections
 *   are tried again and then a `RemoteError` with a `reason`; nothing is filled in.
 * - A reply belongs to the request whose connection it came on, whatever its id says.
 * - 429, 5xx and timeouts halve the number of requests in flight, and Retry-After stops all of them for as long
 *   as the server asks; every good reply raises the number again.
 * - Limits per minute hold in every window of 60 s. Tokens are estimated before and corrected after each reply.
 * - A budget is checked before each request, retries included. When it is spent, what is in flight is finished
 *   and everything else fails with the reason 'budget'.
 * - The key is in the Authorization header and nowhere else: not in the client, its errors or its counts.
 * - Redirects are not followed. Connections are kept open and used again.
 * - The library of the API is loaded by the first question.
 */
export { createChatClient } from './chat-client.ts';
export type * from './chat-types.ts';
export { addressOf, keyOf, quoter } from './endpoint.ts';
export { Failure, failureOfConnection, failureOfStatus } from './failure.ts';
export { imageDataUrl } from './image-url.ts';
export { createNodeFetch } from './node-fetch.ts';
export { backOff, retryAfterOf } from './retry-delay.ts';
