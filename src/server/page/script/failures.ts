/** One clear sentence for each way to get no score; what the server said stands beside it, as text. */
export const FAILURES_PART = String.raw`
  const seconds = (value) => {
    const whole = Math.max(1, Math.ceil(value));
    return whole < 90 ? plural(whole, 'second', 'seconds') : plural(Math.ceil(whole / 60), 'minute', 'minutes');
  };
  const fileSize = (bytes) =>
    bytes < 1000 ? bytes + ' B' : bytes < 1e6 ? Math.round(bytes / 1000) + ' kB' : (bytes / 1e6).toFixed(1) + ' MB';

  class Failure extends Error {
    /** kind: retry (may go better), final (the same file fails again), locked (a token is needed), busy. */
    constructor(kind, sentence, details = {}) {
      super(sentence);
      this.kind = kind;
      this.said = details.said ?? null;
      this.code = details.code ?? null;
      this.wait = details.wait ?? null;
    }
  }

  /** Never above what the server takes: rounded down. */
  const limitSize = (bytes) => (bytes < 1e6 ? fileSize(bytes) : Math.floor(bytes / 1e5) / 10 + ' MB');
  const tooLarge = (size) =>
    'This picture is too large: it has ' + fileSize(size) +
    (maxBytes && size > maxBytes ? ', the server takes at most ' + limitSize(maxBytes) : '') +
    '. Make it smaller and add it again.';

  /** Retry-After is a number of seconds or a date; null where there is none. */
  function retryAfter(headers) {
    const text = headers.get('retry-after');
    if (text === null || text.trim() === '') return null;
    const value = /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1000;
    return Number.isFinite(value) ? Math.max(0, value) : null;
  }

  /** What a reply other than 2xx means. */
  async function failureOf(response, item) {
    let body = null;
    try { body = JSON.parse(await response.text()); } catch (error) { body = null; }
    const told = body && typeof body === 'object' ? body.error ?? body : {};
    const said = [told.message ?? (typeof told === 'string' ? told : null), told.hint]
      .filter((part) => typeof part === 'string' && part !== '')
      .join('; ') || null;
    const details = { said, code: typeof told.code === 'string' ? told.code : null };
    const wait = retryAfter(response.headers);
    const again = wait === null ? ' Try again in a while.' : ' Try again in ' + seconds(wait) + '.';
    switch (response.status) {
      case 401:
        return new Failure('locked', token === ''
          ? 'The server asks for an access token.'
          : 'The server does not accept this access token.', details);
      case 403: return new Failure('final', 'The server does not allow this.', details);
      case 404: case 405: return new Failure('final', 'This server offers no scoring at this address.', details);
      case 408: case 504:
        return new Failure('retry', 'The server did not finish in time. Try again, or with a smaller picture.', details);
      case 413: return new Failure('final', tooLarge(item.file.size), details);
      case 400:
        return new Failure('final', 'The server does not understand this request.', details);
      case 415: case 422:
        return new Failure('final', (await item.noPreview)
          ? 'This file is not an image that can be read.'
          : 'The server cannot use this picture.', details);
      case 429: return new Failure('busy', 'The server is busy.' + again, { ...details, wait });
      case 503: return new Failure('retry', 'The server is not ready.' + again, details);
      default:
        return new Failure('retry', 'The server failed (HTTP ' + response.status + '). Try again in a while.', details);
    }
  }

  const unreachable = () =>
    new Failure('retry', 'The server cannot be reached. Check the connection and that it runs, then try again.');
  const garbled = () =>
    new Failure('retry', 'The reply of the server cannot be read, so there is no score. Try again.');
`;
