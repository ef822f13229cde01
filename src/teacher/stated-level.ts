import { QUALITY_LEVELS, type QualityLevel } from '../core/index.ts';
import { levelStated } from '../data/index.ts';

/** The five levels in Chinese, worst first, as the Chinese prompts ask for them. */
export const CHINESE_LEVELS = ['极差', '较差', '一般', '良好', '优秀'] as const;

const CHINESE_JUDGEMENT = new RegExp(`质量[^。；！？\\n]{0,8}?(${CHINESE_LEVELS.join('|')})`, 'g');

/** The level that the last Chinese judgement states; undefined for none, or for several in that sentence. */
function chineseLevel(text: string): QualityLevel | undefined {
  for (const sentence of text.split(/[。；！？\n]/).reverse()) {
    const found = new Set([...sentence.matchAll(CHINESE_JUDGEMENT)].map((match) => match[1]));
    if (found.size > 1) return undefined;
    const [word] = found;
    if (word !== undefined) return QUALITY_LEVELS[(CHINESE_LEVELS as readonly string[]).indexOf(word)];
  }
  return undefined;
}

/** The quality level that a reasoning states, in English or Chinese. Undefined for none or several, never a guess. */
export const statedLevel = (reasoning: string): QualityLevel | undefined =>
  levelStated(reasoning) ?? chineseLevel(reasoning);
