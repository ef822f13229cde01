import { InputError } from '../core/index.ts';
import type { DistortionType, ImageRecord, RenderedPrompt, SeverityLevel } from '../data/index.ts';

export interface ImageFacts {
  id: string;
  /** Kind of scene, a key of CONTENT_PHRASES. Known for generated images only. */
  contentKind?: string;
  /** The distortions applied. Empty for a pristine image, absent where nobody knows (photographs). */
  distortions?: readonly TruthDistortion[];
}

/** An image to be taught about. `mos` is on the scale [1, 5], higher is better. */
export interface TeachingRecord extends ImageFacts {
  /** Path of the image, relative to the data set folder. */
  image: string;
  dataset: string;
  split: string;
  mos: number;
}

export interface TruthDistortion {
  type: DistortionType;
  level: SeverityLevel;
}

/** What a record of a data set tells a teacher. An image that nobody has judged is an InputError. */
export function teachingRecord(record: ImageRecord): TeachingRecord {
  const { id, image, dataset, split, mos } = record;
  if (mos === null) {
    throw new InputError(`record ${id} of ${dataset} has no MOS`, {
      hint: 'distil only from images with a mean opinion score',
    });
  }
  return { ...factsOf(record), image, dataset, split, mos };
}

/** What is known about an image besides its MOS. Distortions are known for generated images only. */
export const factsOf = ({
  id,
  content,
  distortions,
  source,
}: Pick<ImageRecord, 'id' | 'content' | 'distortions' | 'source'>): ImageFacts => ({
  id,
  ...(content === null ? {} : { contentKind: content.kind }),
  ...(source === 'imported' ? {} : { distortions: distortions.map(({ type, level }) => ({ type, level })) }),
});

export interface TeacherRequest {
  record: TeachingRecord;
  prompt: RenderedPrompt;
  /** Which answer about this image, from 0: a simulated teacher words each anew. */
  sample: number;
}

export interface TeacherAnswer {
  /** The whole output, in the contract of core/answer.ts if the teacher kept to it. */
  text: string;
  /** Which defect a simulated teacher built in on purpose, so that a report can say how many were caught. */
  planted?: string;
}

/** Whatever answers about an image: the oracle, the template, a vision-language model behind HTTP. */
export interface Teacher {
  readonly name: string;
  readonly version: string;
  /** The seed of a simulated teacher, null for one that has none. */
  readonly seed: number | string | null;
  answer(request: TeacherRequest): Promise<TeacherAnswer>;
}
