import type { Language } from './filter-config.ts';

const HAN = /\p{Script=Han}/gu;

/** Words in lower case; each Chinese character is one. */
export const tokensOf = (text: string): string[] =>
  text
    .toLowerCase()
    .replace(HAN, ' $& ')
    .match(/\p{L}+|\d+/gu) ?? [];

const hanCount = (text: string): number => text.match(HAN)?.length ?? 0;

/** Length in words. Two Chinese characters count as one word, about their ratio in translations. */
export const wordCount = (text: string): number => {
  const han = hanCount(text);
  return tokensOf(text).length - han + Math.round(han / 2);
};

/** The runs of `size` words of a text, in order, or of twice as many characters where it is mostly Chinese. */
export function runsOf(text: string, size = 4): string[] {
  const tokens = tokensOf(text);
  const length = hanCount(text) > tokens.length / 2 ? 2 * size : size;
  const count = Math.max(0, tokens.length - length + 1);
  return Array.from({ length: count }, (_, i) => tokens.slice(i, i + length).join(' '));
}

/** The share of four-word runs that occurred before in the text, 0 for fewer than four words. */
export function repeatedShare(text: string): number {
  const runs = runsOf(text);
  return runs.length === 0 ? 0 : (runs.length - new Set(runs).size) / runs.length;
}

/** Of any English text about anything, a tenth of the words and more. */
const ENGLISH = new Set(
  'the a an is are was of and in on with to it its this that as but by for from no not or at be has have some'.split(
    ' ',
  ),
);
const LEAST_ENGLISH = 0.1;
/** Too few words to tell one language of Latin letters from another. */
const FEWEST_WORDS = 8;

/** What is wrong with the language of a text, undefined where it is the one wanted. */
export function languageProblem(text: string, wanted: Language): string | undefined {
  const tokens = tokensOf(text);
  const han = hanCount(text);
  const hanShare = tokens.length === 0 ? 0 : han / tokens.length;
  if (wanted === 'zh')
    return hanShare >= 0.5 ? undefined : `${Math.round(100 * hanShare)} % is Chinese characters`;
  if (hanShare > 0.05) return `${Math.round(100 * hanShare)} % is Chinese characters`;
  if (tokens.length < FEWEST_WORDS) return undefined;
  const share = tokens.filter((token) => ENGLISH.has(token)).length / tokens.length;
  return share >= LEAST_ENGLISH
    ? undefined
    : `only ${Math.round(100 * share)} % of its words are common English words`;
}

const REFUSAL =
  /\bi(?:'|’)?m sorry\b|\bi am sorry\b|\bi apologi[sz]e\b|\bas an ai\b|\b(?:can(?:no|'|’)t|unable to|not able to) (?:help|assist|comply|fulfil|provide|view|access|process|open|analy[sz]e|evaluate|judge|rate|see (?:the|this|any) (?:image|picture))\b|(?:很)?抱歉|作为(?:一个)?(?:AI|人工智能|语言模型)|(?:无法|不能)(?:查看|访问|评价|评估|分析|提供|回答)/i;

/** The words by which an answer declines to judge, if it does. */
export const refusalIn = (text: string): string | undefined => REFUSAL.exec(text)?.[0];

/** How an answer was cut short, if it was. `finishReason` is what the server says. */
export function truncationOf(
  text: string,
  reasoning: string | undefined,
  finishReason: string | undefined,
): string | undefined {
  if (finishReason === 'length') return 'the limit of tokens cut it';
  for (const tag of ['think', 'answer']) {
    if (text.lastIndexOf(`<${tag}>`) > text.lastIndexOf(`</${tag}>`)) return `<${tag}> is not closed`;
  }
  if (reasoning !== undefined && !/[.!?。！？…]["'”’」』)）]*$/u.test(reasoning.trim())) {
    return `the reasoning ends with "${reasoning.trim().slice(-30)}"`;
  }
  return undefined;
}
