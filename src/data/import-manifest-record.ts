import { join, relative, resolve } from 'node:path';
import type { ImportManifestConfig } from './import-manifest-config.ts';
import type { Located } from './import-manifest-images.ts';
import type { Scale } from './manifest/labels.ts';
import type { Manifest, ManifestForm } from './manifest/schema.ts';
import type { ImageRecord } from './records.ts';

/** One label as a record; groups and seeded splits are decided later. */
export function recordOfLabel(
  { label, path }: Located,
  context: {
    manifest: Manifest;
    form: ManifestForm;
    scale: Scale | null;
    config: ImportManifestConfig;
    official: boolean;
  },
): ImageRecord {
  const { manifest, form, scale, config, official } = context;
  const image = path === null ? join(config.imagesFolder ?? '', label.image) : path;
  const relativeTo = resolve(config.output);
  return {
    id: label.image,
    image:
      path === null && config.imagesFolder === undefined
        ? image
        : config.paths === 'absolute'
          ? resolve(image)
          : relative(relativeTo, resolve(image)),
    dataset: config.name ?? manifest.name,
    split: official ? (label.split ?? 'train') : 'train',
    mos: scale === null || label.value === null ? null : normalize(label.value, scale),
    mosStd: scale === null || label.std === null ? null : normalizeStd(label.std, form, scale),
    raters: label.raters,
    distortions: [],
    content: null,
    group: label.group ?? label.image,
    source: 'imported',
    generator: null,
    ...(scale === null || label.value === null
      ? {}
      : {
          mosSource: {
            value: label.value,
            range: [...scale.range],
            direction: scale.direction,
            ...(label.std === null ? {} : { std: label.std }),
          },
        }),
    ...(label.votes === null ? {} : { votes: label.votes }),
    ...(label.reference === null ? {} : { reference: label.reference }),
    ...(label.distortion === null ? {} : { distortion: label.distortion }),
    ...(label.level === null ? {} : { level: label.level }),
    licence: manifest.licence,
    ...(config.labelsOnly ? { imageUnchecked: true as const } : {}),
  };
}

/** A published score on [1, 5], higher better. Rounding in the file must not leave the scale. */
export function normalize(value: number, { range: [low, high], direction }: Scale): number {
  const fraction = (value - low) / (high - low);
  return Math.min(5, Math.max(1, 1 + 4 * (direction === 'higher' ? fraction : 1 - fraction)));
}

/** A standard deviation moves with the length of its own scale: that of the score, or the one of the votes. */
function normalizeStd(std: number, { std: rule, mosFromVotes }: ManifestForm, { range }: Scale): number {
  const [low, high] = mosFromVotes || rule === undefined || rule.scale === 'mos' ? range : rule.scale;
  return (4 * std) / (high - low);
}
