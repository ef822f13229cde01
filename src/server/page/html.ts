import { createHash } from 'node:crypto';
import { PAGE_SCRIPT } from './script/index.ts';
import { PAGE_STYLE } from './style.ts';

export interface PageOptions {
  /** Largest file that the server takes, bytes: refused in the browser, before it is sent. */
  maxBytes?: number;
  /** Name of the model, for the streaming endpoint and the foot of the page. */
  model?: string;
  /** Text that goes with a picture to the streaming endpoint. Without it the server's own prompt is used. */
  prompt?: string;
}

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/**
 * What the page may do: run its own script, use its own style, show pictures of this tab, and ask this server.
 * Strings become markup nowhere: the script needs no such thing, so the browser forbids it.
 */
export const PAGE_POLICY: string = [
  "default-src 'none'",
  `script-src ${hashOf(PAGE_SCRIPT)}`,
  `style-src ${hashOf(PAGE_STYLE)}`,
  'img-src blob: data:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text: string): string => text.replace(/[&<>"]/g, (character) => ENTITIES[character]!);

const attribute = (name: string, value: string | number | undefined): string =>
  value === undefined ? '' : ` data-${name}="${escaped(String(value))}"`;

const LEVELS = ['bad', 'poor', 'fair', 'good', 'excellent'];
const zones = LEVELS.map((level) => `<span class="zone zone-${level}">${level}</span>`).join('');

const ticks = [1, 2, 3, 4, 5].map((value) => `<span class="tick-${value}">${value}</span>`).join('');

const MARK =
  '<svg viewBox="0 0 32 32" fill="none" stroke="currentColor" stroke-width="2.6" stroke-linecap="round" aria-hidden="true"><rect x="3" y="5" width="26" height="15" rx="3.5"/><path d="M3 27h26"/><circle cx="20" cy="27" r="3.2" fill="currentColor" stroke="none"/><path d="m8 16 5-5 4 4 3-2.5 4 3.5"/></svg>';
const ICON = `data:image/svg+xml,${encodeURIComponent(
  MARK.replace('<svg ', '<svg xmlns="http://www.w3.org/2000/svg" ').replaceAll('currentColor', '#4a8ad4'),
)}`;
const UPLOAD =
  '<svg viewBox="0 0 32 32" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path d="M16 21V6m-6 6 6-6 6 6"/><path d="M5 20v5a2 2 0 0 0 2 2h18a2 2 0 0 0 2-2v-5"/></svg>';

/** The page as one HTML file. It asks for nothing but scores. */
export function renderPage({ maxBytes, model, prompt }: PageOptions = {}): string {
  const data = attribute('max-bytes', maxBytes) + attribute('model', model) + attribute('prompt', prompt);
  return `<!doctype html>
<html lang="en"${data}><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="Scores the quality of pictures from 1 to 5, with the reasons.">
<title>q-ponder: image quality</title><link rel="icon" href="${ICON}"><style>${PAGE_STYLE}</style></head>
<body><a class="skip" href="#choose">To the pictures</a>
<header class="top"><div><div class="brand">${MARK}<h1>q-ponder</h1></div>
<p class="lead">How good is this picture? The model looks, reasons, then scores its quality from 1 to 5.</p></div>
<button type="button" id="theme" aria-label="switch between light and dark"></button></header>
<main>
<noscript><p>This page needs JavaScript. The same answers come from <code>POST /v1/score</code>.</p></noscript>
<section class="drop" aria-label="add pictures">${UPLOAD}
<p class="what">Drop pictures here</p>
<p class="how">or choose them<span class="paste">, or paste with <kbd>Ctrl</kbd> <kbd>V</kbd></span>. Several at once are fine.${sizeLimit(maxBytes)}</p>
<button type="button" id="choose" class="primary">Choose pictures</button>
<input type="file" id="file" accept="image/*" multiple hidden></section>
<form class="token" id="token-form" hidden aria-labelledby="token-why"><p id="token-why"></p><div class="row">
<label>Access token<input type="password" id="token" autocomplete="off" spellcheck="false" required></label>
<button class="primary">Use it</button></div></form>
<section class="guide" aria-labelledby="guide"><h2 id="guide">How to read a score</h2><div class="scale example" aria-hidden="true"><div class="lane"><i class="band"></i><i class="dot"></i></div><div class="zones">${zones}</div><div class="ticks">${ticks}</div></div>
<p>A score stands for the mean opinion of people: 1 is bad, 5 is excellent. The bar around it is its interval; where it is wide, the model is unsure. Distortions that the model names come with how strong they are, from slight to severe.</p></section>
<p id="hint" hidden>Choose a second picture to compare with.</p>
<section class="comparison" id="comparison" aria-labelledby="comparison-title" hidden>
<div class="bar"><h2 id="comparison-title">Comparison</h2><button type="button" id="swap">Swap sides</button><button type="button" id="end-comparison">Close</button></div>
<p id="difference"></p><button type="button" id="compare-again" hidden>Try again</button><div class="pair" id="pair"></div><div id="pair-scale"></div></section>
<section id="results" aria-labelledby="results-title" hidden>
<div class="bar"><h2 id="results-title">Results</h2><div class="status"><span id="count"></span><progress id="overall" max="1" value="0" aria-label="pictures done"></progress></div>
<label>Order<select id="sort"><option value="added">newest first</option><option value="worst">lowest score first</option><option value="best">highest score first</option></select></label>
<button type="button" id="copy-all">Copy all as JSON</button><button type="button" id="clear" class="quiet">Clear</button></div>
<div class="cards" id="cards"></div></section>
</main>
<p class="unseen" role="status" aria-live="polite" id="live"></p>
<footer><span>Pictures go to this server alone. Results stay in this tab and are gone when it is closed.</span>${
    model === undefined ? '' : `<span>model: ${escaped(model)}</span>`
  }<a href="docs">for programs: the API</a></footer>
<script>${PAGE_SCRIPT}</script>
</body></html>
`;
}

/** Rounded down: never more than the server takes. */
const sizeLimit = (maxBytes = 0): string =>
  maxBytes < 1e6 ? '' : ` Up to ${Math.floor(maxBytes / 1e5) / 10} MB each.`;
