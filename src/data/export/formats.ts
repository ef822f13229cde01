import { levelOfScore } from '../../core/index.ts';
import type { ImageRecord } from '../records.ts';

/** One image, or one answer about an image, on its way out. */
export interface ExportItem {
  record: ImageRecord;
  /** MOS on [1, 5], higher better. */
  mos: number;
  /** Path as it is written. */
  image: string;
  /** What the user asks. */
  question: string;
  /** What is learnt; null where only the score is. */
  response: string | null;
}

/** How another project wants its rows. Sources: the loaders of each project. */
export interface ExportFormat {
  /** json: one list; jsonl: one row a line; parquet: columns. */
  container: 'json' | 'jsonl' | 'parquet';
  /** Rows without a response mean something to it. */
  scores: boolean;
  /** A response is part of its rows. */
  responses: boolean;
  row(item: ExportItem, index: number): Record<string, unknown>;
}

/** As published scores and papers have them: enough digits to tell images apart, none that are noise. */
const round = (value: number): number => Math.round(value * 1e6) / 1e6;

/** With "<image>" in the text where the picture belongs, as ms-swift and LLaMA-Factory mark it. */
const marked = (question: string): string => `<image>${question}`;

const withSpread = ({ mosStd }: ImageRecord, name: string): Record<string, number> =>
  mosStd === null ? {} : { [name]: round(mosStd) };

export const EXPORT_FORMATS = {
  /** SFT rows with a response; without one, GRPO rows whose reward function reads `solution`. */
  'ms-swift': {
    container: 'jsonl',
    scores: true,
    responses: true,
    row: ({ record, mos, image, question, response }) => ({
      id: record.id,
      messages: [
        { role: 'user', content: marked(question) },
        ...(response === null ? [] : [{ role: 'assistant', content: response }]),
      ],
      images: [image],
      solution: String(round(mos)),
    }),
  },
  /** ShareGPT form with the OpenAI tags; dataset_info.json declares it. */
  'llama-factory': {
    container: 'json',
    scores: false,
    responses: true,
    row: ({ image, question, response }) => ({
      messages: [
        { role: 'user', content: marked(question) },
        { role: 'assistant', content: response },
      ],
      images: [image],
    }),
  },
  /** Conversational prompt, with completion for SFT, without for GRPO. */
  trl: {
    container: 'jsonl',
    scores: true,
    responses: true,
    row: ({ record, mos, image, question, response }) => ({
      id: record.id,
      prompt: [{ role: 'user', content: [{ type: 'image' }, { type: 'text', text: question }] }],
      ...(response === null
        ? {}
        : { completion: [{ role: 'assistant', content: [{ type: 'text', text: response }] }] }),
      images: [image],
      solution: round(mos),
    }),
  },
  parquet: {
    container: 'parquet',
    scores: true,
    responses: true,
    row: ({ record, mos, image, question, response }) => ({
      id: record.id,
      image,
      dataset: record.dataset,
      split: record.split,
      group: record.group,
      mos,
      mos_std: record.mosStd,
      source_mos: record.mosSource?.value ?? null,
      source_low: record.mosSource?.range[0] ?? null,
      source_high: record.mosSource?.range[1] ?? null,
      source_direction: record.mosSource?.direction ?? null,
      reference: record.reference ?? null,
      distortion: record.distortion ?? null,
      level: record.level ?? null,
      licence: record.licence ?? null,
      question,
      response,
    }),
  },
  /** Level word for training, gt_score for testing: the score on 1 to 5, so that no direction is left to guess. */
  'q-align': {
    container: 'json',
    scores: true,
    responses: false,
    row: ({ record, mos, image }) => ({
      id: `${record.id}->${round(mos)}`,
      image,
      conversations: [
        { from: 'human', value: 'How would you rate the quality of this image?\n<|image|>' },
        { from: 'gpt', value: `The quality of the image is ${levelOfScore(mos)}.` },
      ],
      gt_score: round(mos),
    }),
  },
  /** The metas of DeQA-Score, which Q-Insight reads. */
  'q-insight': {
    container: 'json',
    scores: true,
    responses: false,
    row: ({ record, mos, image }) => ({
      id: `${record.id}->${round(mos)}`,
      image,
      gt_score: record.mosSource?.value ?? round(mos),
      gt_score_norm: round(mos),
      ...withSpread(record, 'std_norm'),
    }),
  },
  'visualquality-r1': {
    container: 'jsonl',
    scores: true,
    responses: false,
    row: ({ record, mos, image, question }, index) => ({
      id: index + 1,
      dataset_name: record.dataset,
      image: [image],
      conversations: [
        { from: 'human', value: question },
        { from: 'gpt', value: round(mos) },
      ],
    }),
  },
} as const satisfies Record<string, ExportFormat>;

export const EXPORT_FORMAT_NAMES = Object.keys(EXPORT_FORMATS) as [ExportFormatName, ...ExportFormatName[]];
export type ExportFormatName = keyof typeof EXPORT_FORMATS;
