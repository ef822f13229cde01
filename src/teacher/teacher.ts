import { InputError, type RemoteReason } from '../core/index.ts';
import {
  type ImageRecord,
  levelOfStrength,
  type RenderedPrompt,
  type SeverityLevel,
  SYNTHESIZED_DISTORTIONS,
  type SynthesizedDistortion,
} from '../data/index.ts';
import type { Language } from './filter-config.ts';

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
  type: SynthesizedDistortion;
  /** Absent where a record states one severity for several types. */
  level?: SeverityLevel;
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

const isType = (name: string): name is SynthesizedDistortion =>
  (SYNTHESIZED_DISTORTIONS as readonly string[]).includes(name);

/**
 * The distortions of a record that writes their types into `distortion` ("jitter", "jpeg + colorBlocks"), as images
 * with types beyond the first set do. Undefined where it is empty or in somebody else's words.
 */
function distortionsWritten({
  distortion,
  level,
}: Pick<ImageRecord, 'distortion' | 'level'>): TruthDistortion[] | undefined {
  const types = distortion?.split(' + ') ?? [];
  if (types.length === 0 || !types.every(isType)) return undefined;
  if (types.length > 1 || level === undefined) return types.map((type) => ({ type }));
  return types.map((type) => ({ type, level: levelOfStrength(level) }));
}

/**
 * What is known about an image besides its MOS. An empty list of distortions means a pristine image in generated sets;
 * in imported ones it means that nobody knows, unless they are written out.
 */
export function factsOf({
  id,
  content,
  distortions,
  source,
  distortion,
  level,
}: Pick<ImageRecord, 'id' | 'content' | 'distortions' | 'source'> &
  Partial<Pick<ImageRecord, 'distortion' | 'level'>>): ImageFacts {
  const known =
    source === 'imported' && distortions.length === 0
      ? distortionsWritten({ distortion, level })
      : distortions.map((one) => ({ type: one.type, level: one.level }));
  return {
    id,
    ...(content === null ? {} : { contentKind: content.kind }),
    ...(known === undefined ? {} : { distortions: known }),
  };
}

export interface TeacherRequest {
  record: TeachingRecord;
  /** The prompt that the rows answer. */
  prompt: RenderedPrompt;
  /** Which answer about this image, from 0: a simulated teacher words each anew, a model draws another sample. */
  sample: number;
}

export interface TeacherAnswer {
  /** The whole output, in the contract of core/answer.ts if the teacher kept to it. */
  text: string;
  /** Which defect a simulated teacher built in on purpose, so that a report can say how many were caught. */
  planted?: string;
  /** Why the text ends, as a server says: 'stop', 'length', ... */
  finishReason?: string;
  /** There is no text and will be none: the model declined, or had nothing to say. */
  withoutText?: Extract<RemoteReason, 'refused' | 'empty'>;
  /** What the server counted for this answer. */
  tokens?: { prompt: number; cachedPrompt: number; completion: number };
  /** The model that the server says it used. */
  model?: string;
}

/** How one of the answers about an image was asked for. */
export interface Asked {
  prompt: { id: string; version: number; hash: string };
  temperature: number;
  topP?: number;
  language: Language;
}

/** Whatever answers about an image: the oracle, the template, a vision-language model behind HTTP, a file. */
export interface Teacher {
  readonly name: string;
  readonly version: string;
  /** The seed of a simulated teacher, null for one that has none. */
  readonly seed: number | string | null;
  /** Writes in words of its own, as models and people do. Absent: from the lexicon, as simulated teachers do. */
  readonly freely?: boolean;
  /** What else decides its answers: goes into manifests, and a journal of other settings is not continued. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Answers to ask for about an image, where the teacher knows better than the caller. */
  answersFor?(record: TeachingRecord): number;
  /** How answer `sample` is asked for, where prompts and temperatures differ. */
  asked?(sample: number): Asked;
  answer(request: TeacherRequest): Promise<TeacherAnswer>;
}
