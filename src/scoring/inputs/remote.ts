import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { InputError, QPonderError, RemoteError, type RemoteReason } from '../../core/index.ts';
import { type Address, type AddressPolicy, addressOf, PUBLIC_ADDRESSES } from './addresses.ts';
import { readStream, tooLarge } from './byte-streams.ts';
import { deadlineOf, untilAborted } from './deadline.ts';
import type { InputRules } from './options.ts';

const MOST_REDIRECTS = 5;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** An address for messages: without password, query and fragment. */
export const shownUrl = ({ origin, pathname }: URL): string => `${origin}${pathname}`;

/**
 * The bytes behind an `http:` or `https:` URL. At each hop the name is resolved once, all its addresses are
 * checked, and the connection goes to the checked address: a name that resolves otherwise a moment later changes
 * nothing. No cookies, passwords, proxies or compressed replies.
 *
 * InputError for an address that is not public, a URL that is not allowed and too many bytes; RemoteError for a
 * server that does not answer with a picture's bytes in time; the signal's reason on abort.
 */
export async function fetchPicture(
  url: URL,
  rules: Pick<InputRules, 'maxBytes' | 'timeoutMs'>,
  caller?: AbortSignal,
  policy: AddressPolicy = PUBLIC_ADDRESSES,
): Promise<Buffer> {
  const deadline = deadlineOf(caller, rules.timeoutMs);
  const endsAt = performance.now() + rules.timeoutMs;
  try {
    let at = url;
    for (let hop = 0; hop <= MOST_REDIRECTS; hop++) {
      requireFetchable(at);
      const address = await untilAborted(addressOf(at.hostname, policy), deadline.signal);
      const reply = await replyOf(at, address, deadline.signal);
      const next = redirectOf(reply, at);
      if (next !== null) {
        reply.destroy();
        at = next;
        continue;
      }
      requireBody(reply, at, rules.maxBytes);
      const timeoutMs = Math.max(1, Math.ceil(endsAt - performance.now()));
      return await readStream(reply, shownUrl(at), { ...rules, timeoutMs }, deadline.signal);
    }
    throw new RemoteError(`${shownUrl(url)} redirects more than ${MOST_REDIRECTS} times`, {
      reason: 'not-found',
    });
  } catch (error) {
    // Node answers an abort with an error of its own.
    if (caller?.aborted) throw caller.reason;
    if (deadline.expired) {
      throw new RemoteError(`${shownUrl(url)} was not complete after ${rules.timeoutMs} ms`, {
        reason: 'timeout',
        cause: error,
      });
    }
    if (error instanceof QPonderError) throw error;
    throw new RemoteError(`${shownUrl(url)} cannot be reached: ${(error as Error).message}`, {
      reason: 'unreachable',
      cause: error,
    });
  } finally {
    deadline.clear();
  }
}

function requireFetchable(url: URL): void {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new InputError(`${url.protocol} URLs are not fetched, allowed are http and https`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new InputError('a URL with a user name or password is not fetched', {
      hint: 'download the picture and give the file',
    });
  }
}

function replyOf(url: URL, { address, family }: Address, signal: AbortSignal): Promise<IncomingMessage> {
  const request = url.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const outgoing = request(
      url,
      {
        signal,
        // A connection of its own: a kept one might lead to another address.
        agent: false,
        headers: { accept: 'image/*', 'accept-encoding': 'identity', 'user-agent': 'q-ponder' },
        lookup: (_host, options, callback) => {
          if (options.all) callback(null, [{ address, family }]);
          else callback(null, address, family);
        },
      },
      resolve,
    );
    outgoing.on('error', reject);
    outgoing.end();
  });
}

function redirectOf({ statusCode, headers }: IncomingMessage, from: URL): URL | null {
  if (!REDIRECTS.has(statusCode ?? 0) || headers.location === undefined) return null;
  if (!URL.canParse(headers.location, from.href)) {
    throw new RemoteError(`${shownUrl(from)} redirects to what is no URL`, { reason: 'malformed' });
  }
  return new URL(headers.location, from);
}

function requireBody({ statusCode = 0, headers }: IncomingMessage, url: URL, maxBytes: number): void {
  if (statusCode !== 200) {
    throw new RemoteError(`${shownUrl(url)} answered with HTTP ${statusCode}`, {
      reason: reasonOf(statusCode),
      status: statusCode,
    });
  }
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') {
    throw new RemoteError(`${shownUrl(url)} answered in the encoding ${encoding}, which was not asked for`, {
      reason: 'malformed',
    });
  }
  if (Number(headers['content-length'] ?? 0) > maxBytes) throw tooLarge(shownUrl(url), maxBytes);
}

function reasonOf(status: number): RemoteReason {
  if (status === 401 || status === 402 || status === 403) return 'authentication';
  if (status === 404 || (status >= 300 && status < 400)) return 'not-found';
  if (status === 429) return 'rate-limit';
  return status >= 500 ? 'server' : 'bad-request';
}
