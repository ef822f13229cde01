import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { InputError, StorageError } from '../../src/core/index.ts';
import { decodeImage, encodePng } from '../../src/data/decode.ts';

/** Two pixels side by side, red and green, which tells left from right and channel from channel. */
const redGreen = sharp(Buffer.from([255, 0, 0, 0, 255, 0]), { raw: { width: 2, height: 1, channels: 3 } });

/** The ink values of an uncompressed CMYK picture as they lie in its file. */
const rawInks = (file: Buffer): Promise<Buffer> =>
  sharp(file, { ignoreIcc: true }).pipelineColourspace('cmyk').toColourspace('cmyk').raw().toBuffer();

describe('decodeImage', () => {
  it('returns the bytes that encodePng was given', async () => {
    const image = { data: Uint8Array.from({ length: 5 * 3 * 3 }, (_, i) => i * 5), width: 5, height: 3 };
    expect(await decodeImage(await encodePng(image))).toEqual(image);
  });

  it('decodes a single pixel', async () => {
    const file = await encodePng({ data: Uint8Array.of(1, 2, 3), width: 1, height: 1 });
    expect(await decodeImage(file)).toEqual({ data: Uint8Array.of(1, 2, 3), width: 1, height: 1 });
  });

  it('applies the orientation tag', async () => {
    // Orientation 6: the first row is the right side, so the left pixel comes on top.
    const file = await redGreen.clone().withMetadata({ orientation: 6 }).png().toBuffer();
    expect(await decodeImage(file)).toEqual({
      data: Uint8Array.of(255, 0, 0, 0, 255, 0),
      width: 1,
      height: 2,
    });
  });

  it('lays transparency on white', async () => {
    const rgba = Buffer.from([0, 0, 0, 0, 10, 20, 30, 255]);
    const file = await sharp(rgba, { raw: { width: 2, height: 1, channels: 4 } })
      .png()
      .toBuffer();
    expect([...(await decodeImage(file)).data]).toEqual([255, 255, 255, 10, 20, 30]);
  });

  it('rounds where transparency is laid on white', async () => {
    // 130 * 200 / 255 + 55 = 156.96; 90 * 77 / 255 + 178 = 205.18; 1 / 255 * 1 + 254 = 254.004.
    const rgba = Buffer.from([130, 130, 130, 200, 90, 90, 90, 77, 1, 1, 1, 1]);
    const file = await sharp(rgba, { raw: { width: 3, height: 1, channels: 4 } })
      .png()
      .toBuffer();
    expect([...(await decodeImage(file)).data]).toEqual([157, 157, 157, 205, 205, 205, 254, 254, 254]);
  });

  it('repeats grey in three channels, with and without alpha', async () => {
    const grey = sharp(Buffer.from([9, 200]), { raw: { width: 2, height: 1, channels: 1 } }).toColourspace(
      'b-w',
    );
    expect((await sharp(await grey.clone().png().toBuffer()).metadata()).channels).toBe(1);
    expect([...(await decodeImage(await grey.clone().png().toBuffer())).data]).toEqual([
      9, 9, 9, 200, 200, 200,
    ]);
    const withAlpha = await sharp(Buffer.from([9, 255, 9, 0]), { raw: { width: 2, height: 1, channels: 2 } })
      .toColourspace('b-w')
      .png()
      .toBuffer();
    expect([...(await decodeImage(withAlpha)).data]).toEqual([9, 9, 9, 255, 255, 255]);
  });

  it('reduces 16 bits to 8', async () => {
    const samples = Uint16Array.of(0, 32896, 65535);
    const file = await sharp(samples, { raw: { width: 1, height: 1, channels: 3 } })
      .toColourspace('rgb16')
      .png()
      .toBuffer();
    expect((await sharp(file).metadata()).depth).toBe('ushort');
    expect([...(await decodeImage(file)).data]).toEqual([0, 128, 255]);
  });

  it('reduces 16-bit grey to 8-bit RGB', async () => {
    const file = await sharp(Uint16Array.of(0, 65535), { raw: { width: 2, height: 1, channels: 1 } })
      .toColourspace('grey16')
      .png()
      .toBuffer();
    expect([...(await decodeImage(file)).data]).toEqual([0, 0, 0, 255, 255, 255]);
  });

  it('converts inks to the light that they leave', async () => {
    // Cyan 51 and black 102 leave 153 of light, of which cyan takes a fifth of the red: 153 - 30.6.
    const inks = Buffer.from([51, 0, 255, 102, 0, 0, 0, 0]);
    const pixels = sharp(Buffer.from([0, 0, 0, 0, 0, 0]), { raw: { width: 2, height: 1, channels: 3 } });
    const frame = await pixels.toColourspace('cmyk').tiff({ compression: 'none' }).toBuffer();
    const file = Buffer.from(frame);
    const start = file.indexOf(await rawInks(frame));
    expect(start).toBeGreaterThan(0);
    inks.copy(file, start);
    expect([...(await decodeImage(file)).data]).toEqual([122, 153, 0, 255, 255, 255]);
  });

  it('applies a colour profile', async () => {
    const red = sharp(Buffer.from([255, 0, 0]), { raw: { width: 1, height: 1, channels: 3 } });
    const file = await red.withIccProfile('p3').png().toBuffer();
    // The red of sRGB is (234, 51, 35) in Display P3.
    expect((await sharp(file, { ignoreIcc: true }).raw().toBuffer())[0]).toBe(234);
    expect([...(await decodeImage(file)).data]).toEqual([255, 0, 0]);
  });

  it('takes the first frame of an animation', async () => {
    const frames = Buffer.concat([Buffer.alloc(8 * 8 * 3, 255), Buffer.alloc(8 * 8 * 3, 0)]);
    const file = await sharp(frames, { raw: { width: 8, height: 16, channels: 3, pageHeight: 8 } })
      .gif({ delay: [100, 100] })
      .toBuffer();
    expect((await sharp(file, { pages: -1 }).metadata()).pages).toBe(2);
    const { data, width, height } = await decodeImage(file);
    expect([width, height]).toEqual([8, 8]);
    expect(new Set(data)).toEqual(new Set([255]));
  });
});

describe('decodeImage refuses', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'decode-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const failure = async (input: string | Buffer, options = {}): Promise<InputError> => {
    const error: unknown = await decodeImage(input, options).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(InputError);
    return error as InputError;
  };

  it('a file with 0 bytes', async () => {
    const path = join(folder, 'empty.png');
    await writeFile(path, '');
    const error = await failure(path);
    expect(error.message).toBe(`${path} is empty (0 bytes)`);
    expect(error.hint).toBeDefined();
    expect((await failure(Buffer.alloc(0), { name: 'upload' })).message).toBe('upload is empty (0 bytes)');
  });

  it('a folder', async () => {
    expect((await failure(folder)).message).toBe(`${folder} is a folder, an image file was expected`);
  });

  it('text', async () => {
    const path = join(folder, 'text.jpg');
    await writeFile(path, 'this is no picture');
    const error = await failure(path);
    expect(error.message).toBe(`${path} is not an image that can be read`);
    expect(error.hint).toMatch(/JPEG, PNG/);
  });

  it.each(['jpeg', 'png', 'webp'] as const)('a %s file cut in half', async (format) => {
    const noise = Buffer.from(Uint8Array.from({ length: 64 * 64 * 3 }, (_, i) => (i * 7919) % 251));
    const whole = await sharp(noise, { raw: { width: 64, height: 64, channels: 3 } })
      .toFormat(format)
      .toBuffer();
    const path = join(folder, `cut.${format}`);
    await writeFile(path, whole.subarray(0, whole.length >> 1));
    const error = await failure(path);
    expect(error.message).toContain(path);
    expect(error.hint).toMatch(/damaged/);
  });

  it('more pixels than the limit', async () => {
    const file = await redGreen.clone().resize(40, 30).png().toBuffer();
    const error = await failure(file, { pixelLimit: 1199, name: 'big.png' });
    expect(error.message).toBe('big.png has more than the 1199 pixels allowed');
    expect((await decodeImage(file, { pixelLimit: 1200 })).width).toBe(40);
  });

  it.each([
    // A header by hand: an ISO base media file of brand heic.
    ['HEIC', Buffer.from('\x00\x00\x00\x18ftypheic\x00\x00\x00\x00heic', 'latin1')],
  ])('%s, by name', async (format, bytes) => {
    const path = join(folder, `picture.${format}`);
    await writeFile(path, bytes);
    for (const [input, name] of [
      [path, path],
      [bytes, 'image'],
    ] as const) {
      const error = await failure(input);
      expect(error.message).toBe(`${name} is a ${format} file, which is not supported`);
      expect(error.hint).toMatch(/convert it to PNG; allowed are JPEG, PNG/);
    }
  });

  it('a missing file, as a storage problem', async () => {
    await expect(decodeImage(join(folder, 'none.png'))).rejects.toBeInstanceOf(StorageError);
  });
});
