import { ConfigError } from '../core/index.ts';
import type { ChatEndpoint } from './chat-types.ts';

/** A key shorter than this is a placeholder like "-", and would blank out half of every message. */
const SHORTEST_SECRET = 4;
const LONGEST_QUOTE = 200;

/** The address without a slash at its end, a query or a login. What cannot be an address is a ConfigError. */
export function addressOf({ baseUrl }: Pick<ChatEndpoint, 'baseUrl'>): string {
  const hint =
    'give an address like http://127.0.0.1:8000/v1; a key goes into the environment, never into it';
  if (!URL.canParse(baseUrl)) throw new ConfigError('the address of the chat server is not a URL', { hint });
  const url = new URL(baseUrl);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new ConfigError(
      `the address of the chat server begins with ${url.protocol}, allowed are http: and https:`,
      {
        hint,
      },
    );
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new ConfigError(`the address of the chat server ${url.host} holds a login, a query or a fragment`, {
      hint,
    });
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '').replace(/\/chat\/completions$/, '');
}

/** The key, or null where the server wants none. One that cannot be sent is a ConfigError that does not show it. */
export function keyOf({ apiKey }: Pick<ChatEndpoint, 'apiKey'>): string | null {
  const key = apiKey?.trim() ?? '';
  if (key === '') return null;
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new ConfigError('the API key holds spaces, line breaks or letters outside ASCII', {
      hint: 'set the variable to the key alone',
    });
  }
  return key;
}

/** Makes one short printable line of what a server said, without the key. */
export function quoter(key: string | null): (said: string) => string {
  return (said) => {
    const safe = key !== null && key.length >= SHORTEST_SECRET ? said.replaceAll(key, '[key]') : said;
    const line = safe
      .replaceAll(/\bBearer\s+\S+/gi, 'Bearer [key]')
      // Control characters could drive the terminal that the message ends up in.
      .replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, ' ')
      .trim();
    return line.length > LONGEST_QUOTE ? `${line.slice(0, LONGEST_QUOTE)}...` : line;
  };
}
