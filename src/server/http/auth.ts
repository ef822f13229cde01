import { createHash, timingSafeEqual } from 'node:crypto';
import { ApiError } from './api-error.ts';

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Who sent a request: the place of its token, or its address where no tokens are asked for. */
export type ClientKey = string;

/**
 * Checks bearer tokens. All are compared, by digests of one length, whatever matches: how long it takes tells
 * nothing about any of them. Without tokens everybody may come in.
 */
export class TokenCheck {
  readonly #digests: Buffer[];

  constructor(tokens: readonly string[]) {
    this.#digests = tokens.map(digest);
  }

  get isOpen(): boolean {
    return this.#digests.length === 0;
  }

  /** UNAUTHORIZED without one of the tokens. @param address stands for the client where there are no tokens */
  client(authorization: string | undefined, address: string): ClientKey {
    if (this.isOpen) return `address ${address}`;
    const [scheme, token, ...rest] = (authorization ?? '').trim().split(/ +/);
    const given = digest(token ?? '');
    let place = -1;
    this.#digests.forEach((known, i) => {
      if (timingSafeEqual(known, given)) place = i;
    });
    if (scheme?.toLowerCase() !== 'bearer' || rest.length > 0 || place < 0) {
      throw new ApiError('UNAUTHORIZED', 'a valid access token is needed', {
        hint: 'send it as Authorization: Bearer <token>',
      });
    }
    return `token ${place}`;
  }
}
