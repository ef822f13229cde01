import { readFile } from 'node:fs/promises';
import sharp from 'sharp';
import { asStorageError, RemoteError, type RemoteReason } from '../core/index.ts';
import {
  decodeImage,
  type ImageRecord,
  imagePath,
  loadShippedPrompt,
  type RenderedPrompt,
  renderPrompt,
} from '../data/index.ts';
import { type ChatClient, imageDataUrl } from '../remote/index.ts';
import { meanOfSamples, readCompletion, type ScoreResult } from '../scoring/index.ts';
import type { Prediction } from './predictions.ts';
import { type Answerer, predictionOf, requireTextReading } from './run-evaluation.ts';
import type { Reading } from './run-identity.ts';

export interface ServerAnswererOptions {
  client: ChatClient;
  /** Images asked about at the same time; the client has its own limit. */
  concurrency: number;
  /** Larger pictures are scaled down to this many pixels before they are sent. */
  maxPixels: number;
}

/** The prompt for models that were not trained on ours: it spells out the task and the output contract. */
export const SERVER_PROMPT = 'teacher/quality.v1';

export const serverPrompt = async (): Promise<RenderedPrompt> =>
  renderPrompt(await loadShippedPrompt(SERVER_PROMPT), { reference: '' });

/** What the server said about a picture that is no answer, and will not be another time. */
const FINAL: readonly RemoteReason[] = ['refused', 'empty'];
/** What no other picture will fare better with. */
const HOPELESS: readonly RemoteReason[] = ['authentication', 'not-found', 'budget'];

/**
 * Answers from any OpenAI-compatible server. The picture comes first, then the prompt. A refusal or an empty reply is
 * a row without a score, as any output without an answer; a picture that could not be asked (timeout, overload) has
 * no row and is asked again by the next run.
 */
export function serverAnswerer(prompt: RenderedPrompt, options: ServerAnswererOptions): Answerer {
  const { client, concurrency, maxPixels } = options;
  return {
    identity: {
      model: { kind: 'server', address: client.address, model: client.model, maxPixels },
      prompt: { id: prompt.id, version: prompt.version, hash: prompt.hash },
    },
    chunk: () => 2 * concurrency,
    wholeChunks: false,
    requireReading: requireTextReading,
    answer: async (records, folder, reading, { signal, onFailure }) => {
      const rows = await Promise.all(
        records.map(async (record): Promise<Prediction[]> => {
          signal?.throwIfAborted();
          const url = await pictureUrl(imagePath(folder, record), maxPixels);
          try {
            return [await askAbout(record, url, prompt, reading, client)];
          } catch (error) {
            if (!(error instanceof RemoteError) || HOPELESS.includes(error.reason)) throw error;
            if (FINAL.includes(error.reason)) return [withoutAnswer(record, error.reason)];
            onFailure(error.reason, error);
            return [];
          }
        }),
      );
      return rows.flat();
    },
  };
}

async function askAbout(
  record: ImageRecord,
  url: string,
  prompt: RenderedPrompt,
  { mode, maxNewTokens, temperature = 1, topP = 1, seed = 0, samples = 1 }: Reading,
  client: ChatClient,
): Promise<Prediction> {
  const sampled = mode === 'sampled';
  const answers = await client.ask({
    messages: [
      {
        role: 'user',
        content: [
          { type: 'image', url },
          { type: 'text', text: prompt.text },
        ],
      },
    ],
    maxTokens: maxNewTokens,
    ...(sampled ? { temperature, topP, seed, n: samples } : { temperature: 0 }),
  });
  const results = answers.map(({ text, finishReason }) =>
    readCompletion({
      text,
      finishReason: finishReason === 'length' ? 'length' : 'stop',
      tokenIds: [],
      logProbabilities: [],
    }),
  );
  return predictionOf(record, samples > 1 ? meanOfSamples(results) : results[0]!);
}

function withoutAnswer(record: ImageRecord, reason: RemoteReason): Prediction {
  const nothing: ScoreResult = {
    status: 'unparsable',
    score: null,
    level: null,
    reasoning: null,
    levelStated: null,
    distortions: [],
    wellFormed: false,
    text: '',
    finishReason: 'stop',
  };
  return { ...predictionOf(record, nothing), status: reason };
}

const SENT_AS_IS: Readonly<Record<string, string>> = {
  jpeg: 'image/jpeg',
  png: 'image/png',
  webp: 'image/webp',
};

/**
 * A picture as a data URL of at most `maxPixels` pixels. The file's own bytes where they will do; otherwise PNG,
 * since compressing it would change what is judged.
 */
export async function pictureUrl(path: string, maxPixels: number): Promise<string> {
  let bytes: Buffer;
  try {
    bytes = await readFile(path);
  } catch (error) {
    throw asStorageError(error, `reading image ${path}`);
  }
  const image = await decodeImage(bytes, { name: path });
  const { format, orientation = 1, pages = 1 } = await sharp(bytes).metadata();
  const mime = SENT_AS_IS[format ?? ''];
  const scale = Math.sqrt(maxPixels / (image.width * image.height));
  if (mime !== undefined && scale >= 1 && orientation === 1 && pages === 1) return imageDataUrl(bytes, mime);
  const picture = sharp(image.data, { raw: { width: image.width, height: image.height, channels: 3 } });
  const side = (length: number): number => Math.max(1, Math.floor(length * scale));
  const bounded =
    scale >= 1
      ? picture
      : picture.resize(side(image.width), side(image.height), { fit: 'fill', kernel: 'lanczos3' });
  return imageDataUrl(await bounded.png({ compressionLevel: 4 }).toBuffer(), 'image/png');
}
