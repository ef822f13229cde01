import { ALL_DISTORTIONS, DISTORTION_WORDS, SEVERITY_LEVELS, SEVERITY_WORDS } from '../../../data/index.ts';
import { CARDS_PART } from './cards.ts';
import { COMPARE_PART } from './compare.ts';
import { DOM_PART } from './dom.ts';
import { FAILURES_PART } from './failures.ts';
import { INPUT_PART } from './input.ts';
import { QUEUE_PART } from './queue.ts';
import { TRANSPORT_PART } from './transport.ts';

const WORDS = {
  distortions: Object.fromEntries(ALL_DISTORTIONS.map((type) => [type, DISTORTION_WORDS[type].phrases[0]])),
  severities: Object.fromEntries(SEVERITY_LEVELS.map((level) => [level, SEVERITY_WORDS[level]])),
};

/**
 * The script of the page: plain browser JavaScript kept as text, because the page that carries it is one file
 * and its policy names the hash of this text.
 */
export const PAGE_SCRIPT: string = [
  "'use strict';\n(() => {",
  `  const WORDS = ${JSON.stringify(WORDS)};`,
  DOM_PART,
  `  const maxBytes = Number(root.dataset.maxBytes) || null;`,
  FAILURES_PART,
  TRANSPORT_PART,
  QUEUE_PART,
  CARDS_PART,
  COMPARE_PART,
  INPUT_PART,
  "  drawOverall();\n  root.dataset.ready = 'true';\n})();",
].join('\n');
