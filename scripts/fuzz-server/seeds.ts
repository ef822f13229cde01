import sharp, { type Sharp } from 'sharp';
import { Rng } from '../../src/core/index.ts';

/** Small pictures of every format that is read, in the variants whose decoders differ. */
export async function seedPictures(): Promise<Buffer[]> {
  const picture = (width: number, height: number, channels: 3 | 4, seed: number): Sharp => {
    const rng = new Rng(`fuzz picture ${seed}`);
    const data = Uint8Array.from({ length: width * height * channels }, (_, i) =>
      i % 7 === 0 ? rng.integer(256) : (i * 3) % 256,
    );
    return sharp(data, { raw: { width, height, channels } });
  };
  const plain = (seed: number): Sharp => picture(48, 40, 3, seed);
  const clear = (seed: number): Sharp => picture(33, 57, 4, seed);
  const frames = sharp(
    await Promise.all([1, 2, 3].map((seed) => picture(24, 24, 3, seed).png().toBuffer())),
    { join: { animated: true } },
  );
  const encoded = await Promise.allSettled([
    plain(1).jpeg().toBuffer(),
    plain(2).jpeg({ progressive: true, chromaSubsampling: '4:4:4' }).toBuffer(),
    plain(3).greyscale().jpeg({ quality: 30 }).toBuffer(),
    plain(4).withMetadata({ orientation: 6 }).jpeg().toBuffer(),
    plain(5).toColourspace('cmyk').jpeg().toBuffer(),
    plain(6).png().toBuffer(),
    clear(7).png({ palette: true }).toBuffer(),
    clear(8).png({ progressive: true }).toBuffer(),
    plain(9).toColourspace('rgb16').png().toBuffer(),
    plain(10).webp({ quality: 40 }).toBuffer(),
    clear(11).webp({ lossless: true }).toBuffer(),
    clear(12).avif({ effort: 0 }).toBuffer(),
    plain(13).avif({ lossless: true, effort: 0 }).toBuffer(),
    plain(14).gif().toBuffer(),
    plain(15).tiff({ compression: 'lzw' }).toBuffer(),
    plain(16).tiff({ compression: 'jpeg' }).toBuffer(),
    clear(17).tiff({ compression: 'deflate', tile: true, tileWidth: 16, tileHeight: 16 }).toBuffer(),
    frames.clone().gif().toBuffer(),
    frames.clone().webp().toBuffer(),
    Promise.resolve(
      Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9"/></svg>'),
    ),
  ]);
  return encoded.map((one, i) => {
    if (one.status === 'rejected') throw new Error(`seed ${i} cannot be made: ${String(one.reason)}`);
    return one.value;
  });
}

/** Bodies in JSON, each right as it stands. */
export function seedJson(pictures: readonly Buffer[]): { path: string; text: string }[] {
  const [a, b] = [pictures[0]!, pictures[5]!].map((one) => one.toString('base64'));
  const url = `data:image/png;base64,${b}`;
  const content = [
    { type: 'text', text: 'Is it good?' },
    { type: 'image_url', image_url: { url } },
  ];
  const bodies: [string, unknown][] = [
    ['/v1/score', { image: a, mode: 'expected-direct' }],
    ['/v1/score', { image: url, seed: 1, explain: false }],
    ['/v1/score/batch', { images: [a, b, 'AAAA'] }],
    ['/v1/compare', { a, b: url }],
    ['/v1/chat/completions', { messages: [{ role: 'user', content }], max_tokens: 2, temperature: 0 }],
    [
      '/v1/chat/completions',
      { messages: [{ role: 'user', content: '<|im_end|>' }], max_tokens: 1, stream: true },
    ],
    ['/v1/rewards', { query: ['<think>good</think><answer>4.00</answer>'], labels: [4] }],
    ['/v1/rewards', { images: [a], scale: 'score' }],
  ];
  return bodies.map(([path, body]) => ({ path, text: JSON.stringify(body) }));
}

export const BOUNDARY = 'q-ponder-fuzz-boundary';

/** Bodies of forms, each right as it stands. */
export function seedForms(pictures: readonly Buffer[]): { path: string; body: Buffer }[] {
  const part = (name: string, content: Buffer | string): Buffer =>
    Buffer.concat([
      Buffer.from(
        `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${typeof content === 'string' ? '' : '; filename="x.png"\r\nContent-Type: image/png'}\r\n\r\n`,
      ),
      Buffer.from(content),
      Buffer.from('\r\n'),
    ]);
  const end = Buffer.from(`--${BOUNDARY}--\r\n`);
  const form = (...parts: Buffer[]): Buffer => Buffer.concat([...parts, end]);
  const [a, b] = [pictures[0]!, pictures[5]!];
  return [
    { path: '/v1/score', body: form(part('image', a), part('mode', 'expected-direct')) },
    { path: '/v1/score/batch', body: form(part('images', a), part('images', b), part('seed', '3')) },
    { path: '/v1/compare', body: form(part('a', a), part('b', b)) },
  ];
}
