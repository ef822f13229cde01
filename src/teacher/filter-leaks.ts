const SCORE_WORDS =
  /\b(?:given|provided|reference|known|true) (?:score|rating|mos|label)\b|\bmos\b|\bmean opinion\b|\bground truth\b|(?:给定|提供|已知|参考)的?(?:分数|评分|得分|标签)|真实(?:分数|评分)|平均(?:意见|主观)分/i;

const INSTRUCTION_WORDS =
  /\bbackground (?:information|knowledge|notes?)\b|\bas (?:instructed|you (?:asked|requested))\b|\b(?:the|these|your|my) instructions?\b|\b(?:i|we) (?:was|were|am|are|have been) (?:told|given|informed)\b|\bhidden (?:guidance|information|labels?)\b|\b(?:provided|given|supplied) (?:information|guidance|labels?|hints?|list)\b|\bthe prompt (?:says|asks|tells)\b|背景信息|参考信息|(?:提供|给出)的?信息|根据(?:提示|说明|要求|指示)/i;

/** What betrays in a reasoning that a score was given: a telling phrase, or the MOS as a number. */
export function scoreLeakIn(reasoning: string, mos: number): string | undefined {
  const phrase = SCORE_WORDS.exec(reasoning)?.[0];
  if (phrase !== undefined) return `says "${phrase}"`;
  const numbers = reasoning.match(/\d+\.\d+/g) ?? [];
  const hit = numbers.find((number) => {
    const decimals = Math.min(12, number.length - number.indexOf('.') - 1);
    return Math.abs(Number(number) - mos) <= 0.5 * 10 ** -decimals + 1e-9;
  });
  return hit === undefined ? undefined : `quotes the MOS as ${hit}`;
}

/** What betrays that the reasoning follows an instruction or something told in advance. */
export function instructionLeakIn(reasoning: string): string | undefined {
  const phrase = INSTRUCTION_WORDS.exec(reasoning)?.[0];
  return phrase === undefined ? undefined : `says "${phrase}"`;
}
