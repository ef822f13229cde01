import { ConfigError } from '../../../../core/index.ts';

/** The address of a server without a slash at its end or the prefix. ConfigError for what cannot be one. */
export function serverAddress(baseUrl: string, prefix: string): string {
  const hint = 'give the address where the environment server listens, like http://127.0.0.1:36001';
  if (!URL.canParse(baseUrl))
    throw new ConfigError('the address of the environment server is not a URL', { hint });
  const url = new URL(baseUrl);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new ConfigError(
      `the address of the environment server begins with ${url.protocol}, allowed are http: and https:`,
      { hint },
    );
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new ConfigError('the address of the environment server holds a login, a query or a fragment', {
      hint,
    });
  }
  const address = `${url.origin}${url.pathname}`.replace(/\/+$/, '');
  // AgentGym's own clients are given the prefix as part of the address.
  return prefix !== '' && address.endsWith(prefix) ? address.slice(0, -prefix.length) : address;
}
