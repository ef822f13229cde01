import { createHash } from 'node:crypto';

const STYLE = `:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem}
h2{margin:2.5rem 0 .3rem;font-size:1.1rem}code,pre{font:14px/1.45 ui-monospace,monospace}
pre{overflow:auto;padding:.8rem;border:1px solid #8886;border-radius:.4rem}summary{cursor:pointer}`;

/** Allows the style of this page and nothing else. */
export const DOCS_POLICY: string = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text: string): string => text.replace(/[&<>"]/g, (character) => ENTITIES[character]!);

const EXAMPLES: Record<string, string> = {
  '/v1/score': `curl --data-binary @photo.jpg -H 'Content-Type: image/jpeg' $URL/v1/score
curl -F image=@photo.jpg -F mode=greedy $URL/v1/score`,
  '/v1/score/batch': 'curl -F images=@a.jpg -F images=@b.jpg $URL/v1/score/batch',
  '/v1/compare': 'curl -F a=@a.jpg -F b=@b.jpg $URL/v1/compare',
  '/v1/rewards': `curl -H 'Content-Type: application/json' $URL/v1/rewards \\
  -d '{"query": ["<think>the quality is good.</think><answer>3.80</answer>"], "labels": [4.1]}'`,
};

interface Described {
  info: { description: string };
  paths: Record<string, Record<string, { summary: string; requestBody?: unknown; responses: unknown }>>;
}

/** The OpenAPI description as a page that needs nothing from anywhere else. */
export function docsPage(description: unknown): string {
  const { info, paths } = description as Described;
  const sections = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { summary, requestBody, responses }]) => {
      const example = EXAMPLES[path];
      return [
        `<h2><code>${method.toUpperCase()} ${escaped(path)}</code></h2><p>${escaped(summary)}.</p>`,
        example === undefined ? '' : `<pre>${escaped(example)}</pre>`,
        requestBody === undefined ? '' : details('Request', requestBody),
        details('Reply', responses),
      ].join('');
    }),
  );
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>q-ponder: HTTP interface</title><style>${STYLE}</style></head>
<body><h1>HTTP interface</h1><p>${escaped(info.description)}</p>
<p>Where the server asks for a token, send it as <code>Authorization: Bearer …</code>. Errors have the form <code>{"error": {"code", "message", "hint"}}</code>. The same as JSON: <a href="openapi.json">openapi.json</a>.</p>
${sections.join('\n')}</body></html>`;
}

const details = (title: string, content: unknown): string =>
  `<details><summary>${title}</summary><pre>${escaped(JSON.stringify(content, null, 2))}</pre></details>`;
