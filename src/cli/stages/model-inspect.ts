import { z } from 'zod';
import { inspectModel, type ModelInspection, type VisionConfig } from '../../model/index.ts';
import type { Stage } from '../stage-command.ts';

const modelInspectConfigSchema = z.strictObject({
  model: z.string().min(1).describe('model folder'),
  json: z.boolean().default(false).describe('print everything as JSON'),
});
type ModelInspectConfig = z.infer<typeof modelInspectConfigSchema>;

export const modelInspectStage: Stage<ModelInspectConfig> = {
  schema: modelInspectConfigSchema,
  async run({ model, json }, { print }) {
    const inspection = await inspectModel(model);
    if (json) print(JSON.stringify(inspection, null, 2));
    else for (const line of describeModel(inspection)) print(line);
  },
};

/** The inspection for people, one line each. */
export function describeModel(inspection: ModelInspection): string[] {
  return [
    headline(inspection),
    ...configurationLines(inspection),
    ...partLines(inspection),
    ...tokenLines(inspection),
    ...imageLines(inspection),
    ...provenanceLines(inspection),
  ];
}

const SCALES = [
  [1e9, 'G'],
  [1e6, 'M'],
  [1e3, 'k'],
] as const;

/** A count with three digits and a unit, as 8.29 G. */
function short(count: number): string {
  const [scale, unit] = SCALES.find(([least]) => count >= least) ?? [1, ''];
  return `${Number((count / scale).toPrecision(3))} ${unit}`.trim();
}

const bytesOf = (bytes: number): string => `${short(bytes)}B`.replace(/(\d)B/, '$1 B');

function headline({ folder, family, base, adapterParameters, parameters, weights }: ModelInspection): string {
  const kind =
    base === null ? family : `an adapter of ${short(adapterParameters ?? 0)} parameters on ${base}`;
  const stored =
    weights === null
      ? 'no weights'
      : `${weights.dtypes.join(' and ')}, ${bytesOf(weights.bytes)} in ${weights.files} file(s)`;
  return `${folder}: ${kind}, ${short(parameters)} parameters, ${stored}`;
}

function configurationLines({ config: { vision: v, text: t } }: ModelInspection): string[] {
  return [
    ...(v === null ? [] : [towerLine(v)]),
    `  language model: ${t.layers} layers of width ${t.hiddenSize}, ${t.heads} heads of ${t.headSize} (${t.keyValueHeads} for keys and values), inner width ${t.intermediateSize}; ${t.maxPositions} positions, rope ${t.ropeTheta}${v === null ? '' : ` in ${t.mropeSection.join(' + ')}`}`,
    `  vocabulary: ${t.vocabularySize} rows, head ${t.tieWordEmbeddings ? 'tied to the embedding' : 'of its own'}`,
  ];
}

function towerLine(v: VisionConfig): string {
  const attention = Number.isFinite(v.windowSize)
    ? `windows of ${v.windowSize} pixels, the whole image in blocks ${v.fullAttentionBlocks.join(', ')}`
    : 'every block over the whole image';
  return `  vision tower: ${v.depth} blocks of width ${v.hiddenSize}, ${v.heads} heads, inner width ${v.intermediateSize}; patches ${v.patchSize}x${v.patchSize}x${v.temporalPatchSize}, ${v.spatialMergeSize}x${v.spatialMergeSize} merged; ${attention}`;
}

function partLines({ parts, parameters }: ModelInspection): string[] {
  const lines = parts.map(({ part, parameters: count, stored }) => {
    const share = `${((100 * count) / parameters).toFixed(1)} %`;
    const size =
      stored === null || count === 0 ? '' : `, ${stored.dtypes.join(' and ')} ${bytesOf(stored.bytes)}`;
    return `    ${part.padEnd(14)} ${String(count).padStart(13)}  ${share.padStart(6)}${size}`;
  });
  return [`  parameters: ${parameters}`, ...lines];
}

function tokenLines({ tokens }: ModelInspection): string[] {
  const special = tokens.special.map(({ token, id }) => `${token} ${id}`).join(', ');
  return [`  tokens: ${tokens.vocabulary}; ${special}`, `  template: ${JSON.stringify(tokens.template)}`];
}

function imageLines({ images }: ModelInspection): string[] {
  if (images === null) return ['  images: none, the model reads text alone'];
  const { views } = images;
  const limits =
    views === null
      ? `${images.minPixels} to ${images.maxPixels} pixels, at most ${images.mostTokens} tokens`
      : `${views.count} view(s) of ${views.crop}x${views.crop} at a short side of ${views.shortSide}, ${images.mostTokens} tokens each`;
  const examples = images.examples.map(
    ({ width, height, shown, tokens }) => `${width}x${height} as ${shown} (${tokens})`,
  );
  return [`  images: ${limits}`, ...(views === null ? [`    tokens: ${examples.join(', ')}`] : [])];
}

function provenanceLines({ provenance: { metadata, trainingImages } }: ModelInspection): string[] {
  const said = Object.entries(metadata).filter(([key]) => key !== 'format');
  const lines = [`  made by: ${said.map(([key, text]) => `${key} ${text}`).join(', ') || 'not recorded'}`];
  if (trainingImages === null) return [...lines, '  trained on: not recorded'];
  const { complete, distinct, stages } = trainingImages;
  lines.push(`  trained on: ${distinct} images${complete ? '' : ', and others that are not recorded'}`);
  for (const { stage, dataset, use, images } of stages) {
    lines.push(`    ${stage}: ${images} of ${dataset} (${use})`);
  }
  return lines;
}
