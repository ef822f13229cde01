import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { InputError, Rng } from '../../src/core/index.ts';
import { decodeImage } from '../../src/data/decode.ts';
import { applyDistortion } from '../../src/data/distortions.ts';
import { loadDataset, loadPixels } from '../../src/data/load.ts';
import { renderScene, SCENE_KINDS } from '../../src/data/scenes.ts';
import { ssim } from '../../src/data/similarity.ts';
import { synthesize, synthesizeBatch } from '../../src/data/synth.ts';
import { synthesisConfigSchema } from '../../src/data/synth-config.ts';

let folder: string;
const photos = () => join(folder, 'photos');
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'synth-from-'));
  await mkdir(photos());
  for (const [i, kind] of SCENE_KINDS.entries()) {
    const { data, width, height } = renderScene(new Rng(i), 96, kind).image;
    await sharp(data, { raw: { width, height, channels: 3 } })
      .resize(96, 72, { fit: 'fill' })
      .png()
      .toFile(join(photos(), `${kind} ${i}.png`));
  }
});
afterAll(() => rm(folder, { recursive: true }));

const config = (output: string, from: object = {}, settings: object = {}) =>
  synthesisConfigSchema.parse({
    output: join(folder, output),
    seed: 5,
    size: 48,
    from: { folder: photos(), testShare: 0.34, validationShare: 0.17, ...from },
    ...settings,
  });

describe('data synth --from', () => {
  it('keeps every photograph and distorts it by every type at every level, in one split', async () => {
    const types = ['jpeg', 'denoising', 'whiteBalance'];
    const { output, counts, images } = await synthesize(config('all', { types, levels: [1, 4] }), {
      workers: 1,
    });
    // Six photographs: two for test, one for validation; each itself and 3 x 2 versions.
    expect(counts).toEqual({ train: 21, validation: 7, test: 14, cross: 0 });
    expect(images).toBe(42);
    const { records } = await loadDataset(output);
    const group = records.filter((record) => record.group === 'photograph-sign 5.png');
    expect(group.map(({ id, distortion, level }) => [id, distortion, level])).toEqual([
      ['sign_5-png', undefined, undefined],
      ...types.flatMap((type) => [1, 4].map((level) => [`sign_5-png-${type}-${level}`, type, level])),
    ]);
    expect(group.slice(1).every(({ reference }) => reference === 'images/sign_5-png.png')).toBe(true);
    expect(new Set(group.map(({ split }) => split)).size).toBe(1);
    // In the vocabulary of the lexicon: listed. Outside: known by name only, and so unknown to its readers.
    expect(group[1]).toMatchObject({
      source: 'photograph',
      distortions: [{ type: 'jpeg', strength: 1, level: 1 }],
    });
    expect(group[3]).toMatchObject({ source: 'imported', distortions: [] });
    expect(group[0]).toMatchObject({ source: 'photograph', distortions: [] });
    expect((await readdir(join(output, 'images'))).length).toBe(42);
  });

  it('writes the photograph as it is and what applyDistortion makes of it', async () => {
    const { output } = await synthesize(config('pixels', { types: ['jitter'], levels: [3] }), { workers: 1 });
    const { records } = await loadDataset(output);
    const pair = records.filter(({ group }) => group === 'photograph-objects 3.png');
    const [reference, distorted] = await loadPixels(pair, output);
    const photo = await decodeImage(join(photos(), 'objects 3.png'));
    expect(reference).toEqual(photo);
    const rng = new Rng(5).fork('from').fork('objects 3.png').fork('distortion', 'jitter');
    expect(distorted).toEqual(await applyDistortion(photo, 'jitter', 3, rng));
  });

  it('does not depend on the number of processes', async () => {
    const bytes = async (output: string, workers: number) => {
      const made = await synthesize(config(output, { typesPerPhotograph: 2, levels: [2] }), { workers });
      return made.recordsSha256;
    };
    expect(await bytes('two', 2)).toBe(await bytes('one', 1));
  });

  it('draws so many types for each photograph, not the same for all', async () => {
    const settings = config('drawn', { typesPerPhotograph: 3, levels: [5] });
    const { output } = await synthesize(settings, { workers: 1 });
    const { records } = await loadDataset(output);
    const types = new Map<string, string[]>();
    for (const { group, distortion } of records) {
      types.set(group, [...(types.get(group) ?? []), ...(distortion === undefined ? [] : [distortion])]);
    }
    expect([...types.values()].map((list) => new Set(list).size)).toEqual([3, 3, 3, 3, 3, 3]);
    expect(new Set([...types.values()].map((list) => list.join())).size).toBeGreaterThan(1);
  });

  it('scores by SSIM to the photograph, or not at all', async () => {
    const from = { types: ['upscaling'], levels: [2, 4] };
    const rated = await synthesize(config('ssim', { ...from, scores: 'ssim' }), { workers: 1 });
    const { records } = await loadDataset(rated.output);
    const [photo, mild, strong] = records.slice(0, 3);
    expect([photo!.mos, photo!.raters]).toEqual([5, null]);
    const [a, b] = await loadPixels([photo!, mild!], rated.output);
    expect(mild!.mos).toBeCloseTo(1 + 4 * ssim(a!, b!), 4);
    expect(strong!.mos).toBeLessThan(mild!.mos!);
    const bare = await synthesize(config('bare', { ...from, scores: 'none' }), { workers: 1 });
    expect((await loadDataset(bare.output)).records.every(({ mos }) => mos === null)).toBe(true);
  });

  it('scales large photographs down to the longest edge', async () => {
    const { output } = await synthesize(config('small', { types: ['haze'], levels: [1], longestEdge: 64 }), {
      workers: 1,
    });
    const [image] = await loadPixels((await loadDataset(output)).records.slice(0, 1), output);
    expect([image!.width, image!.height]).toEqual([64, 48]);
  });

  it('refuses photographs whose ids would be equal, and a folder inside the output', async () => {
    const twice = join(folder, 'twice');
    await mkdir(twice);
    for (const name of ['a b.png', 'a_b.png']) {
      await writeFile(join(twice, name), await readFile(join(photos(), 'sign 5.png')));
    }
    const run = synthesize(config('equal', { folder: twice }), { workers: 1 });
    await expect(run).rejects.toBeInstanceOf(InputError);
    await expect(run).rejects.toThrow(/a b\.png and a_b\.png would get the same id a_b-png/);
    const inside = synthesize(config('.', {}), { workers: 1 });
    await expect(inside).rejects.toThrow(/from\.folder .* lies in the output folder/);
  });

  it('refuses one photograph under two names: it could be trained on and tested on', async () => {
    const copies = join(folder, 'copies');
    await mkdir(copies);
    for (const [i, name] of ['a.png', 'b.png', 'copy of a.png'].entries()) {
      await writeFile(
        join(copies, name),
        await readFile(join(photos(), i === 1 ? 'sign 5.png' : 'objects 3.png')),
      );
    }
    const run = synthesize(config('copied', { folder: copies }), { workers: 1 });
    await expect(run).rejects.toThrow(
      `${copies} has 1 photograph(s) under several names, equal byte for byte:\n  a.png, copy of a.png`,
    );
  });

  it('keeps letters of every script in the ids', async () => {
    const named = join(folder, 'named');
    await mkdir(named);
    for (const [name, photo] of [
      ['猫.png', 'sign 5.png'],
      ['cafe\u0301 1.png', 'objects 3.png'],
    ] as const) {
      await writeFile(join(named, name), await readFile(join(photos(), photo)));
    }
    const settings = { folder: named, types: ['jitter'], levels: [1], testShare: 0, validationShare: 0 };
    const { output } = await synthesize(config('scripts', settings), { workers: 1 });
    const { records } = await loadDataset(output);
    expect(records.map(({ id }) => id)).toEqual([
      'caf\u00e9_1-png',
      'caf\u00e9_1-png-jitter-1',
      '猫-png',
      '猫-png-jitter-1',
    ]);
  });
});

describe('a distortion set', () => {
  const small = { counts: { train: 26, validation: 0, test: 0, cross: 6 } };

  it('kadid25 holds each of its types once in 25 images and others in cross', async () => {
    const settings = synthesisConfigSchema.parse({
      output: 'x',
      size: 32,
      pristineShare: 0,
      doubleDistortionShare: 0,
      distortionSet: 'kadid25',
      ...small,
    });
    const made = await synthesizeBatch(settings, 'train', 0, 25);
    const types = made.map(({ record }) => record.distortion ?? record.distortions[0]!.type);
    expect(new Set(types).size).toBe(25);
    const cross = await synthesizeBatch(settings, 'cross', 0, 6);
    expect(cross.every(({ record }) => !types.includes(record.distortion!))).toBe(true);
    expect(made.find(({ record }) => record.distortion === 'jpeg2000')!.record).toMatchObject({
      source: 'imported',
      distortions: [],
      level: expect.any(Number),
    });
  });

  it('all leaves no type unseen, so it has no cross split', async () => {
    const settings = synthesisConfigSchema.parse({ output: join(folder, 'none'), distortionSet: 'all' });
    await expect(synthesize(settings, { workers: 1 })).rejects.toThrow(
      /counts\.cross is 1000, but distortionSet all/,
    );
  });
});

it('refuses types and levels named twice, which would give two images one id', () => {
  const places = (from: object): string[] => {
    const parsed = synthesisConfigSchema.safeParse({ output: 'x', from: { folder: 'y', ...from } });
    return (parsed.error?.issues ?? []).map(({ path }) => path.join('.'));
  };
  expect(places({ types: ['jpeg', 'jpeg'], levels: [1, 2, 1] })).toEqual(['from.types', 'from.levels']);
  expect(places({ types: ['jpeg', 'haze'], levels: [2, 1] })).toEqual([]);
});
