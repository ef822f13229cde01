import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { pageRoutes } from '../../../src/server/page/index.ts';

const get = (headers: Record<string, string> = {}, options = {}) =>
  pageRoutes(options).request('/', { headers });
const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

describe('GET /', () => {
  it('allows its own script and style by hash, this server, and nothing else', async () => {
    const response = await get();
    const page = await response.text();
    const [, script] = /<script>([\s\S]*?)<\/script>/.exec(page)!;
    const [, style] = /<style>([\s\S]*?)<\/style>/.exec(page)!;
    const policy = Object.fromEntries(
      response.headers
        .get('content-security-policy')!
        .split('; ')
        .map((part) => [part.split(' ')[0], part.split(' ').slice(1).join(' ')]),
    );
    expect(policy).toEqual({
      'default-src': "'none'",
      'script-src': hashOf(script!),
      'style-src': hashOf(style!),
      'img-src': 'blob: data:',
      'connect-src': "'self'",
      'base-uri': "'none'",
      'form-action': "'none'",
      'frame-ancestors': "'none'",
      'require-trusted-types-for': "'script'",
      'trusted-types': "'none'",
    });
  });

  it('is one file: one script, one style, no attribute that either would need, no address', async () => {
    const page = await (await get()).text();
    expect(page.match(/<script/g)).toHaveLength(1);
    expect(page.match(/<style/g)).toHaveLength(1);
    expect(page).not.toMatch(/<[^>]+\s(?:style|on\w+)=/i);
    const markup = page.replace(/<script>[\s\S]*<\/script>/, '').replace(/<style>[\s\S]*<\/style>/, '');
    expect(markup).not.toMatch(/https?:\/\//);
  });

  it('is not sent again to who has it', async () => {
    const etag = (await get()).headers.get('etag')!;
    const again = await get({ 'if-none-match': etag });
    expect(again.status).toBe(304);
    expect(await again.text()).toBe('');
    expect((await get({ 'if-none-match': etag }, { model: 'other' })).status).toBe(200);
  });

  it('writes the settings of the server as text', async () => {
    const page = await (await get({}, { model: '"><script>x</script>', maxBytes: 20_971_520 })).text();
    expect(page).toContain('data-model="&quot;&gt;&lt;script&gt;x&lt;/script&gt;"');
    expect(page).toContain('data-max-bytes="20971520"');
    expect(page).toContain('Up to 20.9 MB each.');
    expect(page.match(/<script/g)).toHaveLength(1);
  });
});
