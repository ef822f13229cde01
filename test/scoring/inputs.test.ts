import { execFileSync } from 'node:child_process';
import { createReadStream, openAsBlob } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { ReadableStream } from 'node:stream/web';
import { pathToFileURL } from 'node:url';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RgbImage } from '../../src/core/index.ts';
import { type InputOptions, openPicture, type Picture } from '../../src/scoring/index.ts';

/** 5 x 3, every value another one. */
const PIXELS: RgbImage = { data: Uint8Array.from({ length: 45 }, (_, i) => 5 * i), width: 5, height: 3 };
const raw = { raw: { width: 5, height: 3, channels: 3 } } as const;
const drawn = () => sharp(PIXELS.data, raw);

let folder: string;
let png: Buffer;
let path: string;
const at = (name: string): string => join(folder, name);
const open = async (input: Picture, options?: InputOptions): Promise<RgbImage> => openPicture(input, options);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'q-ponder-inputs-'));
  png = await drawn().png().toBuffer();
  path = at('picture.png');
  await writeFile(path, png);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('every kind of input gives the same pixels', () => {
  it.each<[string, () => Promise<Picture> | Picture]>([
    ['a path', () => path],
    ['a file: URL', () => pathToFileURL(path)],
    ['a file: URL as text', () => pathToFileURL(path).href],
    ['a Buffer', () => png],
    ['a Uint8Array that is a part of a larger one', () => Uint8Array.from([9, 9, ...png]).subarray(2)],
    ['an ArrayBuffer', () => new Uint8Array(png).buffer],
    ['a Blob', () => new Blob([new Uint8Array(png)])],
    ['a File', () => new File([new Uint8Array(png)], 'x.txt', { type: 'text/plain' })],
    ['a Blob of a file', () => openAsBlob(path)],
    ['a Node Readable', () => createReadStream(path, { highWaterMark: 7 })],
    ['a web ReadableStream', () => new Blob([new Uint8Array(png)]).stream()],
    ['a sharp instance of a file', () => sharp(path)],
    ['a sharp instance of pixels', () => drawn()],
    ['a data URL in base64', () => `data:image/png;base64,${png.toString('base64')}`],
    ['a data URL in base64url', () => `data:;base64,${png.toString('base64url')}`],
    ['a data URL in escaped base64', () => `data:;base64,${encodeURIComponent(png.toString('base64'))}`],
    [
      'a data URL in escapes',
      () => `data:,${[...png].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')}`,
    ],
    ['pixels', () => PIXELS],
  ])('%s', async (_what, input) => {
    expect(await open(await input())).toEqual(PIXELS);
  });

  it('a sharp instance keeps its steps and is not consumed', async () => {
    const instance = sharp(path).flop();
    const [first] = (await open(instance)).data;
    expect(first).toBe(5 * 12);
    expect(await open(instance)).toEqual(await open(instance));
  });
});

describe('content decides, not the name', () => {
  it.each(['jpeg', 'png', 'webp', 'gif', 'tiff', 'avif'] as const)(
    '%s is read under a wrong name',
    async (format) => {
      const wrong = at(`${format}.txt`);
      await drawn().toFormat(format).toFile(wrong);
      expect(await open(wrong)).toMatchObject({ width: 5, height: 3 });
    },
  );

  it('a PNG called .jpg is a PNG, to the pixel', async () => {
    await writeFile(at('really-png.jpg'), png);
    expect(await open(at('really-png.jpg'))).toEqual(PIXELS);
  });

  const svg =
    '<svg xmlns="http://www.w3.org/2000/svg" width="4" height="2"><rect width="4" height="2"/></svg>';

  it.each<[string, string | Buffer, RegExp]>([
    ['no bytes', '', /is empty \(0 bytes\)/],
    ['text', 'this is no picture', /is not an image that can be read/],
    ['an SVG drawing', svg, /SVG drawing, which is not read unless it is allowed/],
    ['an SVG drawing behind a declaration', `<?xml version="1.0"?>\n<!-- a -->${svg}`, /SVG drawing/],
    ['a BMP', 'BM\x36\0\0\0', /is a BMP file, which is not supported/],
    ['a HEIC', '\0\0\0\x18ftypheic\0\0\0\0mif1heic', /is a HEIC file, which is not supported/],
    ['a PDF', '%PDF-1.7', /is a PDF file, which is not supported/],
    ['RIFF that is no WebP', 'RIFF\0\0\0\0WAVEfmt ', /is not an image that can be read/],
  ])('%s is an InputError', async (_what, content, message) => {
    const input = Buffer.from(content as string, 'latin1');
    await expect(open(input)).rejects.toMatchObject({
      code: 'INPUT',
      message: expect.stringMatching(message),
    });
  });

  it('an SVG drawing is rendered where it is allowed', async () => {
    expect(await open(Buffer.from(svg), { allowSvg: true })).toEqual({
      data: new Uint8Array(24),
      width: 4,
      height: 2,
    });
  });

  it('a sharp instance of an SVG drawing is refused as well', async () => {
    await expect(open(sharp(Buffer.from(svg)))).rejects.toMatchObject({ code: 'INPUT' });
  });
});

describe('limits', () => {
  const kinds: [string, () => Picture][] = [
    ['a path', () => path],
    ['a Buffer', () => png],
    ['a Blob', () => new Blob([new Uint8Array(png)])],
    ['a stream', () => Readable.from([png.subarray(0, 40), png.subarray(40)])],
    ['a data URL', () => `data:;base64,${png.toString('base64')}`],
  ];

  it.each(kinds)('one byte too many is an InputError: %s', async (_what, input) => {
    const allowed = png.length - 1;
    await expect(open(input(), { maxBytes: allowed })).rejects.toMatchObject({
      code: 'INPUT',
      message: expect.stringContaining(`more than the ${allowed} bytes allowed`),
    });
    expect(await open(input(), { maxBytes: png.length })).toEqual(PIXELS);
  });

  it.each<[string, () => Picture]>([
    ...kinds,
    ['a sharp instance', () => sharp(path)],
    ['pixels', () => PIXELS],
  ])('one pixel too many is an InputError: %s', async (_what, input) => {
    await expect(open(input(), { maxPixels: 14 })).rejects.toMatchObject({
      code: 'INPUT',
      message: expect.stringContaining('more than the 14 pixels allowed'),
    });
    expect(await open(input(), { maxPixels: 15 })).toEqual(PIXELS);
  });

  it('a bomb is refused by its header: 65,000 x 65,000 pixels in a few bytes', async () => {
    const header = Buffer.from(png);
    header.writeUInt32BE(65_000, 16);
    header.writeUInt32BE(65_000, 20);
    await expect(open(header)).rejects.toMatchObject({ code: 'INPUT' });
    const real = await sharp({ create: { width: 13_000, height: 12_000, channels: 3, background: '#000' } })
      .png()
      .toBuffer();
    expect(real.length).toBeLessThan(1_000_000);
    await expect(open(real)).rejects.toMatchObject({
      code: 'INPUT',
      message: 'image has more than the 150000000 pixels allowed',
    });
  });

  it('an endless stream is given up at the limit, and told so', async () => {
    let cancelled = false;
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(1000)),
      cancel: () => {
        cancelled = true;
      },
    });
    await expect(open(endless, { maxBytes: 10_000 })).rejects.toMatchObject({ code: 'INPUT' });
    expect(cancelled).toBe(true);
  });

  it('a stream that stops sending is given up in time', async () => {
    const stalled = new Readable({ read: () => undefined });
    stalled.push(png.subarray(0, 20));
    await expect(open(stalled, { timeoutMs: 30 })).rejects.toThrow('was not complete after 30 ms');
    expect(stalled.destroyed).toBe(true);
  });

  it('an abort ends the waiting with its reason', async () => {
    const controller = new AbortController();
    const opened = openPicture(new Readable({ read: () => undefined }), { signal: controller.signal });
    controller.abort(new Error('enough'));
    await expect(opened).rejects.toThrow('enough');
    await expect(openPicture(path, { signal: controller.signal })).rejects.toThrow('enough');
  });

  it.each<[string, InputOptions]>([
    ['maxBytes', { maxBytes: 0 }],
    ['maxPixels', { maxPixels: Number.NaN }],
    ['timeoutMs', { timeoutMs: 1.5 }],
    ['allowHttp', { allowHttp: 'yes' as unknown as boolean }],
  ])('%s that is no limit is a ConfigError', async (name, options) => {
    await expect(open(png, options)).rejects.toMatchObject({
      code: 'CONFIG',
      message: expect.stringContaining(`input.${name} is `),
    });
  });
});

describe('what leads to no picture', () => {
  it.each<[string, unknown, string, RegExp]>([
    [
      'a path that is not there',
      '/nowhere/x.png',
      'STORAGE',
      /reading image \/nowhere\/x\.png failed \(ENOENT\)/,
    ],
    ['a folder', tmpdir(), 'INPUT', /is a folder/],
    ['a device', '/dev/zero', 'INPUT', /no regular file/],
    ['no path', '', 'INPUT', /path of the image is empty/],
    ['a path with a zero', 'a\0b', 'INPUT', /zero character/],
    [
      'an http URL',
      'http://example.com/x.png?key=1',
      'INPUT',
      /^http:\/\/example\.com\/x\.png is not fetched/,
    ],
    ['an ftp URL', new URL('ftp://example.com/x'), 'INPUT', /ftp: URLs are not read/],
    ['a file: URL of another machine', 'file://other/x.png', 'INPUT', /names no file here/],
    ['a data URL without data', 'data:image/png;base64', 'INPUT', /no comma/],
    ['a data URL that is no base64', 'data:;base64,!!!!', 'INPUT', /no base64/],
    ['a number', 7, 'INPUT', /a picture was expected, got number/],
    ['null', null, 'INPUT', /a picture was expected, got null/],
    ['a stream of text', Readable.from(['text']), 'INPUT', /yields strings, bytes were expected/],
    ['a stream of nothing', Readable.from([]), 'INPUT', /the stream is empty/],
  ])('%s', async (_what, input, code, message) => {
    await expect(open(input as Picture)).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
    });
  });

  it('a named pipe is not waited for', async () => {
    execFileSync('mkfifo', [at('pipe')]);
    await expect(open(at('pipe'))).rejects.toThrow('no regular file');
  });

  it('a stream that breaks, and one that was read before', async () => {
    const broken = new Readable({
      read() {
        this.destroy(new Error('cable cut'));
      },
    });
    await expect(open(broken)).rejects.toThrow('the stream broke off: cable cut');
    const stream = new Blob([new Uint8Array(png)]).stream();
    await open(stream);
    await expect(open(stream)).rejects.toMatchObject({ code: 'INPUT' });
  });
});

describe('pictures out of the ordinary', () => {
  const solid = (width: number, height: number, background: object = { r: 200, g: 30, b: 60 }) =>
    sharp({ create: { width, height, channels: 3, background } });
  const centre = ({ data, width, height }: RgbImage): number[] => {
    const start = 3 * (Math.floor(height / 2) * width + Math.floor(width / 2));
    return [...data.subarray(start, start + 3)];
  };

  it('truncated: an InputError, in each format', async () => {
    const noise = sharp({
      create: {
        width: 80,
        height: 80,
        channels: 3,
        background: '#000',
        noise: { type: 'gaussian', mean: 128, sigma: 40 },
      },
    });
    for (const format of ['jpeg', 'png', 'webp', 'gif', 'tiff', 'avif'] as const) {
      const whole = await noise.clone().toFormat(format).toBuffer();
      const cut = whole.subarray(0, Math.floor(whole.length / 2));
      await expect(open(cut), format).rejects.toMatchObject({ code: 'INPUT' });
    }
  });

  it('animated: the first frame', async () => {
    const frames = Buffer.concat([Buffer.alloc(27, 0), Buffer.alloc(27, 255)]);
    for (const format of ['gif', 'webp'] as const) {
      const file = await sharp(frames, { raw: { width: 3, height: 6, channels: 3, pageHeight: 3 } })
        .toFormat(format, format === 'webp' ? { lossless: true } : {})
        .toBuffer();
      expect((await sharp(file).metadata()).pages).toBe(2);
      const first = { data: new Uint8Array(27), width: 3, height: 3 };
      expect(await open(file)).toEqual(first);
      expect(await open(sharp(file, { animated: true }))).toEqual(first);
    }
  });

  it('CMYK: converted to sRGB', async () => {
    const file = await solid(8, 8, { r: 250, g: 250, b: 250 })
      .toColourspace('cmyk')
      .jpeg({ quality: 100 })
      .toBuffer();
    expect((await sharp(file).metadata()).space).toBe('cmyk');
    for (const value of centre(await open(file))) expect(Math.abs(value - 250)).toBeLessThan(8);
  });

  it('16 bits: reduced to 8, v / 257', async () => {
    const data = Uint16Array.from({ length: 12 }, (_, i) => (i % 3) * 25_700);
    const file = await sharp(data, { raw: { width: 2, height: 2, channels: 3 } })
      .toColourspace('rgb16')
      .png()
      .toBuffer();
    expect((await sharp(file).metadata()).depth).toBe('ushort');
    expect(centre(await open(file))).toEqual([0, 100, 200]);
  });

  it('1x1 and 1x20000: opened as they are', async () => {
    const pixel = await open(await solid(1, 1).png().toBuffer());
    expect(pixel).toEqual({ data: Uint8Array.of(200, 30, 60), width: 1, height: 1 });
    expect(await open(await solid(1, 20_000).png().toBuffer())).toMatchObject({ width: 1, height: 20_000 });
  });

  it('EXIF orientation: upright', async () => {
    // Orientation 6: what is stored must be turned clockwise, so the stored left edge becomes the top.
    const stored = Buffer.from([255, 0, 0, 0, 0, 255]);
    const file = await sharp(stored, { raw: { width: 2, height: 1, channels: 3 } })
      .png()
      .withMetadata({ orientation: 6 })
      .toBuffer();
    const upright = { data: new Uint8Array(stored), width: 1, height: 2 };
    expect(await open(file)).toEqual(upright);
    expect(await open(sharp(file))).toEqual(upright);
  });

  it('a colour profile: converted to sRGB', async () => {
    const file = await solid(8, 8).withIccProfile('p3').png().toBuffer();
    const bare = await sharp(file, { ignoreIcc: true }).raw().toBuffer();
    // Display P3 is wider: the same colour has other numbers there.
    expect(Math.abs(bare[0]! - 200)).toBeGreaterThan(5);
    const [r, g, b] = centre(await open(file)) as [number, number, number];
    for (const [value, wanted] of [
      [r, 200],
      [g, 30],
      [b, 60],
    ] as const) {
      expect(Math.abs(value - wanted)).toBeLessThanOrEqual(2);
    }
  });

  it('transparent: laid on white; grey: three equal values', async () => {
    const clear = { r: 0, g: 0, b: 0, alpha: 0.5 };
    const half = await sharp({ create: { width: 2, height: 2, channels: 4, background: clear } })
      .png()
      .toBuffer();
    for (const value of centre(await open(half))) expect(Math.abs(value - 127)).toBeLessThanOrEqual(1);
    const grey = await sharp(Buffer.alloc(4, 77), { raw: { width: 2, height: 2, channels: 1 } })
      .toColourspace('b-w')
      .png()
      .toBuffer();
    expect(centre(await open(grey))).toEqual([77, 77, 77]);
    expect(centre(await open(sharp(grey)))).toEqual([77, 77, 77]);
  });
});
