import { levelOfScore, QUALITY_LEVELS } from '../core/index.ts';
import { DISTORTION_WORDS } from '../data/index.ts';
import type { Language } from './filter-config.ts';
import { CHINESE_LEVELS } from './stated-level.ts';
import type { TeachingRecord } from './teacher.ts';
import { byStrength, withSeverity } from './writing.ts';

/** What a teacher is told in secret: the score, the distortions applied, both, or nothing. */
export const GUIDANCE = ['all', 'score', 'distortions', 'none'] as const;
export type Guidance = (typeof GUIDANCE)[number];

const CHINESE_SEVERITIES = ['轻微', '较轻', '中等', '明显', '严重'] as const;

function scoreSentence({ mos }: TeachingRecord, language: Language): string {
  const level = levelOfScore(mos);
  return language === 'en'
    ? `People who looked at this picture gave it ${mos.toFixed(2)} on average, on a scale from 1 to 5: ${level}.`
    : `观看者对这张图像的平均评分为 ${mos.toFixed(2)}（1 到 5 分），属于“${CHINESE_LEVELS[QUALITY_LEVELS.indexOf(level)]}”。`;
}

function distortionSentence({ distortions }: TeachingRecord, language: Language): string | undefined {
  if (distortions === undefined) return undefined;
  if (distortions.length === 0) {
    return language === 'en' ? 'No distortion was applied to this picture.' : '这张图像没有被施加任何失真。';
  }
  const named = byStrength(distortions).map(({ type, level }) => {
    const name = DISTORTION_WORDS[type].phrases[0];
    if (language === 'en' || level === undefined) return withSeverity(name, level);
    return `${name}（${CHINESE_SEVERITIES[level - 1]}）`;
  });
  return language === 'en'
    ? `Distortions applied to this picture, strongest first: ${named.join(', ')}.`
    : `这张图像被施加的失真，由强到弱：${named.join('、')}。`;
}

/** The text for the `reference` slot of a teacher's prompt, empty where there is nothing to tell. */
export function guidanceText(record: TeachingRecord, guidance: Guidance, language: Language): string {
  const sentences = [
    guidance === 'all' || guidance === 'score' ? scoreSentence(record, language) : undefined,
    guidance === 'all' || guidance === 'distortions' ? distortionSentence(record, language) : undefined,
  ];
  return sentences.filter((sentence) => sentence !== undefined).join('\n');
}
