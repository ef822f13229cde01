/** Decodes pictures and brings them to the model's size, so that neither the event loop nor inference waits. */
import { workerData } from 'node:worker_threads';
import sharp from 'sharp';
import { InputError, type RgbImage } from '../../core/index.ts';
import { loadModelFormat, type ModelFormat, smartResize } from '../../model/index.ts';
import { createScorer, openPicture } from '../../scoring/index.ts';
import { serveTasks, type TaskAnswer, type TaskContext } from './serve-tasks.ts';
import type { EncodedPicture, PreparedPicture, ThreadSettings } from './tasks.ts';

// One picture after another keeps both cores busy; libvips' own threads would only fight over them.
sharp.concurrency(1);
sharp.cache(false);

/** Pictures of one shape run through the same compiled graphs. */
function shapeOf({ width, height }: RgbImage, { processor }: ModelFormat): string {
  if (processor.views !== null) return 'views';
  const { patchSize, mergeSize, minPixels, maxPixels } = processor;
  const size = smartResize(height, width, { factor: patchSize * mergeSize, minPixels, maxPixels });
  return `${size.width}x${size.height}`;
}

await serveTasks<EncodedPicture>(async () => {
  const { model, prompt, input } = workerData as ThreadSettings;
  const format = await loadModelFormat(model);
  // The sizes of a picture depend on the processor's settings alone: the weights stay where they are needed.
  const { shrink } = await createScorer({
    model: { ...format, parameters: new Map() },
    prompt,
    engine: { backend: 'cpu' },
  });

  async function carryOut(picture: EncodedPicture, { signal }: TaskContext): Promise<TaskAnswer> {
    const opened = await openPicture(source(picture), { ...input, signal });
    const image = owned(shrink(opened));
    const value: PreparedPicture = {
      image,
      shape: shapeOf(image, format),
      width: opened.width,
      height: opened.height,
    };
    return { value, transfer: [image.data.buffer as ArrayBuffer] };
  }

  return { info: null, carryOut, close: () => undefined };
});

/** Only bytes and the two kinds of URL get through: as any other text the library would read a file. */
function source(picture: EncodedPicture): Uint8Array | string {
  if ('bytes' in picture) return picture.bytes;
  if (/^(?:data:|https?:\/\/)/i.test(picture.url)) return picture.url;
  throw new InputError('the picture is neither bytes nor a data or http URL');
}

/** The image with a buffer of its own, which can be handed over. */
function owned(image: RgbImage): RgbImage {
  const whole = image.data.byteLength === image.data.buffer.byteLength;
  return whole ? image : { ...image, data: image.data.slice() };
}
