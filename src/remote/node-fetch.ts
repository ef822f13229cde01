import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';

/** Statuses that a Response must not have a body with. */
const WITHOUT_BODY = [204, 205, 304];

function responseOf({ statusCode = 0, headers }: IncomingMessage, body: Buffer): Response {
  const pairs = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
  );
  return new Response(WITHOUT_BODY.includes(statusCode) ? null : body.toString('utf8'), {
    status: statusCode,
    headers: pairs,
  });
}

/**
 * `fetch` for one kind of request, a string sent and a whole text received, over node:http with connections kept
 * open. It needs about a quarter of the processor time of the fetch of Node, which is what limits thousands of
 * short questions, and has no time limits of its own. Redirects are not followed: a key belongs to one address.
 */
export function createNodeFetch(): typeof fetch {
  const plain = new HttpAgent({ keepAlive: true });
  const secure = new HttpsAgent({ keepAlive: true });
  return (input, init = {}) =>
    new Promise((resolve, reject) => {
      const url = new URL(input instanceof Request ? input.url : input);
      const options = {
        method: init.method ?? 'GET',
        headers: Object.fromEntries(
          init.headers instanceof Headers ? init.headers : new Headers(init.headers),
        ),
        ...(init.signal ? { signal: init.signal } : {}),
      };
      const request =
        url.protocol === 'https:'
          ? httpsRequest(url, { ...options, agent: secure })
          : httpRequest(url, { ...options, agent: plain });
      request.on('error', reject);
      request.on('response', (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('close', () => {
          if (!response.complete) {
            reject(Object.assign(new Error('the connection broke inside the reply'), { code: 'ECONNRESET' }));
            return;
          }
          try {
            resolve(responseOf(response, Buffer.concat(chunks)));
          } catch (error) {
            // A status that HTTP does not know.
            reject(error);
          }
        });
      });
      request.end(typeof init.body === 'string' ? init.body : undefined);
    });
}
