import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { importManifest } from '../../src/data/import-manifest.ts';
import { importManifestConfigSchema } from '../../src/data/import-manifest-config.ts';
import type { ImageRecord } from '../../src/data/records.ts';
import { srcc } from '../../src/metrics/index.ts';

const shared = join(import.meta.dirname, '../../../shared/data/labels');
const present = existsSync(shared);
if (!present) console.log('skipped: published label files, shared/data/labels is not there');

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'labels-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

type Imported = Awaited<ReturnType<typeof read>>;
const imports: Map<string, Promise<Imported>> = new Map();

/** Several tests look at one file: each is imported once. */
function labelsOf(manifest: string, labels: string, settings: object = {}): Promise<Imported> {
  const key = JSON.stringify([manifest, labels, settings]);
  const known = imports.get(key) ?? read(manifest, labels, settings, join(folder, `set-${imports.size}`));
  imports.set(key, known);
  return known;
}

async function read(manifest: string, labels: string, settings: object, output: string) {
  const summary = await importManifest(
    importManifestConfigSchema.parse({
      ...{ manifest, labels: join(shared, labels), output, labelsOnly: true },
      ...settings,
    }),
  );
  // Parsed and not checked again: the import's own tests load what it writes.
  const lines = (await readFile(join(output, 'records.jsonl'), 'utf8')).trim().split('\n');
  const records = lines.map((line) => JSON.parse(line) as ImageRecord);
  return { summary, records, byId: new Map(records.map((record) => [record.id, record])) };
}

const vq = (file: string): string => `visualquality_r1/datasets/${file}`;

/** Scores of the images that both have, by file name. */
function paired(a: readonly ImageRecord[], b: readonly ImageRecord[]): [number[], number[]] {
  const key = ({ id }: ImageRecord): string => id.slice(id.lastIndexOf('/') + 1).toLowerCase();
  const other = new Map(b.map((record) => [key(record), record.mos!]));
  const both = a.flatMap((record) =>
    other.has(key(record)) ? [[record.mos!, other.get(key(record))!]] : [],
  );
  return [both.map(([x]) => x!), both.map(([, y]) => y!)];
}

const largestDifference = ([a, b]: [number[], number[]]): number =>
  a.reduce((most, value, i) => Math.max(most, Math.abs(value - b[i]!)), 0);

describe.runIf(present)('published label files', () => {
  it('KonIQ-10k: official split, MOS scale of the set, and SD and votes that belong together', async () => {
    const { summary, records, byId } = await labelsOf(
      'koniq-10k',
      'koniq10k/metadata/koniq10k_distributions_sets.csv',
    );
    expect(summary.rows).toBe(10073);
    expect(summary.counts).toEqual({ train: 7058, validation: 1000, test: 2015, cross: 0 });
    expect(summary.found).toEqual([3.91176470588, 88.3888888889]);
    // VisualQuality-R1 brought the same file to 1 to 5 by the same rule.
    expect(byId.get('10004473376.jpg')?.mos).toBeCloseTo(4.478899486428679, 9);
    let worstStd = 0;
    let worstMean = 0;
    for (const { votes, mosStd, mos, raters } of records) {
      const mean = votes!.reduce((sum, share, i) => sum + share * (i + 1), 0);
      const variance = votes!.reduce((sum, share, i) => sum + share * (i + 1 - mean) ** 2, 0);
      const sample = Math.sqrt((variance * raters!) / (raters! - 1));
      worstStd = Math.max(
        worstStd,
        Math.min(Math.abs(sample - mosStd!), Math.abs(Math.sqrt(variance) - mosStd!)),
      );
      worstMean = Math.max(worstMean, Math.abs(mean - mos!));
    }
    expect(worstStd).toBeLessThan(1e-6);
    // The trap: the MOS is not the mean of the votes.
    expect(worstMean).toBeGreaterThan(0.5);
  });

  it('KonIQ-10k: the form of VisualQuality-R1 gives the same scores and deviations', async () => {
    const official = await labelsOf('koniq-10k', 'koniq10k/metadata/koniq10k_distributions_sets.csv');
    const peer = await labelsOf('koniq-10k', vq('test_data_label/KONIQ-10K_test_all.txt'));
    expect(largestDifference(paired(official.records, peer.records))).toBeLessThan(1e-9);
    const id = '10007357496.jpg';
    expect(peer.byId.get(id)?.mosStd).toBeCloseTo(official.byId.get(id)!.mosStd!, 9);
  });

  it('KADID-10k: dmos is higher-better, and the wrong direction is found by the levels', async () => {
    const { summary, byId } = await labelsOf('kadid-10k', vq('KADID-10K/KADID-10K_mos.txt'));
    expect(summary.rows).toBe(10125);
    expect(summary.found).toEqual([1, 4.93]);
    expect(byId.get('I01_01_01.png')).toMatchObject({
      reference: 'I01.png',
      distortion: 'Gaussian blur',
      level: 1,
    });
    expect(byId.get('I01_01_01.png')!.mos).toBeCloseTo(4.633587786259543, 12);
    await expect(
      labelsOf('kadid-10k', vq('KADID-10K/KADID-10K_mos.txt'), { direction: 'lower' }),
    ).rejects.toThrow('is the wrong direction');
  });

  it('KADID-10k: a deviation left on the source scale beside a normalized score is brought to 1 to 5 too', async () => {
    const source = await labelsOf('kadid-10k', vq('KADID-10K/KADID-10K_mos.txt'));
    const normalized = await labelsOf('kadid-10k', vq('KADID-10K/KADID-10K_normalized_mos.txt'));
    expect(largestDifference(paired(source.records, normalized.records))).toBeLessThan(1e-9);
    expect(source.byId.get('I01_01_01.png')?.mosStd).toBeCloseTo((0.7042726744663603 * 4) / 3.93, 12);
    expect(normalized.byId.get('I01_01_01.png')?.mosStd).toBeCloseTo((0.7042726744663603 * 4) / 3.93, 12);
  });

  it('KADID-10k: the 60/20/20 split keeps references apart', async () => {
    const { summary, records } = await labelsOf('kadid-10k', vq('KADID-10K'), {
      form: 'visualquality-r1-split',
    });
    expect(summary.counts).toEqual({ train: 6125, validation: 2000, test: 2000, cross: 0 });
    expect(new Set(records.map(({ reference }) => reference)).size).toBe(81);
  });

  it('SPAQ: normalized scores, deviations on the scale of 2 to 96', async () => {
    const { summary, byId } = await labelsOf('spaq', vq('test_data_label/SPAQ_test_all.txt'));
    expect(summary.rows).toBe(11125);
    expect(byId.get('00001.jpg')!.mosStd).toBeCloseTo((17.5539983235403 * 4) / 94, 12);
  });

  it('TID2013: 3,000 names in mixed case, 25 references, 24 distortions', async () => {
    const { summary, records } = await labelsOf('tid2013', 'tid2013/tid2013_mos.csv');
    expect(summary.found).toEqual([0.24242, 7.21429]);
    expect(records.filter(({ id }) => /^I/.test(id))).toHaveLength(75);
    expect(new Set(records.map(({ group }) => group)).size).toBe(25);
    expect(new Set(records.map(({ distortion }) => distortion)).size).toBe(24);
  });

  it('CSIQ: DMOS is lower-better; names are built from the sheet; LIQE has 1 - DMOS', async () => {
    const list = await labelsOf('csiq', 'csiq/csiq_label.txt');
    expect(list.summary.rows).toBe(866);
    expect(list.byId.get('1600.AWGN.1.png')?.mos).toBeCloseTo(5 - 4 * 0.061989, 9);
    const sheet = await labelsOf('csiq', 'csiq/IQA_database/CSIQ/splits2/csiq.beta.txt');
    const liqe = await labelsOf('csiq', 'liqe/IQA_Database/CSIQ/splits2/csiq_all_clip.txt');
    // Both round to three digits.
    for (const other of [sheet, liqe]) {
      const pairs = paired(list.records, other.records);
      expect(pairs[0]).toHaveLength(866);
      expect(largestDifference(pairs)).toBeLessThan(0.0051);
    }
  });

  it('CSIQ: the meta of Q-Align gives its contrast images the labels of the noise images', async () => {
    const list = await labelsOf('csiq', 'csiq/csiq_label.txt');
    const settings = { form: 'gt-score', range: [0, 1], direction: 'lower' };
    const meta = await labelsOf('q-align', 'qalign/playground/data/test_jsons/csiq.json', settings);
    const of = (kind: RegExp) => meta.records.filter(({ id }) => kind.test(id));
    expect(of(/contrast/)).toHaveLength(150);
    expect(largestDifference(paired(list.records, of(/\.(AWGN|fnoise|jpeg|jpeg2000)\./i)))).toBeLessThan(
      0.0051,
    );
    expect(largestDifference(paired(list.records, of(/contrast/)))).toBeGreaterThan(0.5);
  });

  it('LIVE release 2: 982 rows, 203 of them references; DMOS is lower-better', async () => {
    const text = await labelsOf('live-release2', 'live_release2/C++/livedbfiles');
    expect(text.summary.rows).toBe(982);
    expect(text.summary.excluded.map(({ images }) => images.length)).toEqual([203]);
    expect(text.records).toHaveLength(779);
    expect(new Set(text.records.map(({ group }) => group)).size).toBe(29);
    expect(text.byId.get('jp2k/img2.bmp')).toMatchObject({ reference: 'studentsculpture.bmp' });
    // 15.512954 of -2.640015 to 111.774694, turned round.
    expect(text.byId.get('jp2k/img2.bmp')!.mos).toBeCloseTo(5 - (4 * (15.512954 + 2.640015)) / 114.414709, 9);
    const table = await labelsOf('live-release2', 'live_release2/live_dmos.csv');
    const pairs = paired(
      table.records.filter(({ id }) => id.startsWith('wn/')),
      text.records.filter(({ id }) => id.startsWith('wn/')),
    );
    expect(largestDifference(pairs)).toBeLessThan(1e-6);
  });

  it('LIVE release 2: the older DMOS in Q-Align is another scale of the same direction', async () => {
    const text = await labelsOf('live-release2', 'live_release2/C++/livedbfiles');
    const settings = { form: 'gt-score', range: [0, 84.48897154], direction: 'lower' };
    const meta = await labelsOf('q-align', 'qalign/playground/data/test_jsons/live.json', settings);
    const wn = (records: ImageRecord[]) => records.filter(({ id }) => /(^|\/)wn\//.test(id));
    const correlation = srcc(...paired(wn(text.records), wn(meta.records)));
    expect(correlation.status === 'ok' && correlation.value).toBeGreaterThan(0.9);
    // 203 pristine references have DMOS 0, and become excellent, not bad.
    expect(meta.records.filter(({ mos }) => mos === 5)).toHaveLength(203);
  });

  it('LIVE Challenge: 7 training pictures are left out of 1,169 rows', async () => {
    const { summary, records } = await labelsOf('live-challenge', vq('test_data_label/LIVEC_test_all.txt'));
    expect(summary.rows).toBe(1169);
    expect(summary.excluded[0]?.images).toEqual([1, 2, 3, 4, 5, 6, 7].map((i) => `t${i}.bmp`));
    expect(records).toHaveLength(1162);
    const liqe = await labelsOf(
      'live-challenge',
      'liqe/IQA_Database/ChallengeDB_release/splits2/clive_all_clip.txt',
    );
    // One of them rounds to four digits of 100.
    expect(largestDifference(paired(records, liqe.records))).toBeLessThan(1e-5);
  });

  it('LIVE Challenge: the list of TRIQ lacks two rows, and that is said', async () => {
    const { summary } = await labelsOf('live-challenge', 'triq_livec_koniq/src/databases/live_mos.csv');
    expect(summary.notes).toContain(
      '1160 labelled images, LIVE In the Wild Image Quality Challenge Database has 1162',
    );
  });

  it('PIPAL: 23,200 Elo scores of 200 references', async () => {
    const { summary, records } = await labelsOf('pipal', 'maniqa/data/PIPAL22/pipal22_train.txt');
    expect(summary.rows).toBe(23200);
    expect(summary.found).toEqual([916.7136, 1835.9856]);
    expect(new Set(records.map(({ group }) => group)).size).toBe(200);
  });

  it('FLIVE: 39,810 photographs, and no official split without its list', async () => {
    const { summary } = await labelsOf('flive', 'flive/labels_image.csv');
    expect(summary.rows).toBe(39810);
    expect(summary.notes).toContain('labels640.csv is not beside the labels: the official split is not used');
  });

  it('AGIQA-3K: quality, not agreement; 300 prompts are the groups', async () => {
    const { summary, records, byId } = await labelsOf('agiqa-3k', 'agiqa3k/data.csv');
    expect(summary.found).toEqual([0, 4.488740784]);
    expect(byId.get('AttnGAN_normal_000.jpg')?.mosSource?.value).toBe(0.965602553);
    expect(new Set(records.map(({ group }) => group)).size).toBe(300);
    const peer = await labelsOf('agiqa-3k', vq('test_data_label/AGIQA-3K_test_all.txt'));
    expect(largestDifference(paired(records, peer.records))).toBeLessThan(1e-9);
    expect(peer.byId.get('AttnGAN_normal_000.jpg')?.mosStd).toBeCloseTo((0.223270101 * 4) / 4.488740784, 9);
  });

  it('AGIQA-3K: scores that are texts in the meta of Q-Align are read as numbers', async () => {
    const own = await labelsOf('agiqa-3k', 'agiqa3k/data.csv');
    const settings = { form: 'gt-score', range: [0, 4.488740784], direction: 'higher' };
    const meta = await labelsOf('q-align', 'qalign/playground/data/test_jsons/agi.json', settings);
    expect(largestDifference(paired(own.records, meta.records))).toBeLessThan(1e-9);
  });

  it('AGIQA-1K: the workbook lists one image twice', async () => {
    await expect(labelsOf('agiqa-1k', 'agiqa1k/AIGC_MOS_Zscore.xlsx')).rejects.toThrow(
      'image dreamStudio_8_9_1_1.jpg is listed at AIGC_MOS_Zscore.xlsx row 1080 already',
    );
    const { summary, byId } = await labelsOf('agiqa-1k', 'agiqa1k/AIGC_MOS_Zscore.xlsx', { badRows: 'skip' });
    expect(summary.rows).toBe(1080);
    expect(byId.get('deepai_0_0_0_0.jpg')?.mosSource?.value).toBe(2.7934105045636524);
  });

  it('BID: two forms agree', async () => {
    const liqe = await labelsOf('bid', 'liqe/IQA_Database/BID/splits2/bid_all.txt');
    const peer = await labelsOf('bid', vq('test_data_label/BID_test_all.txt'));
    const pairs = paired(liqe.records, peer.records);
    expect(pairs[0]).toHaveLength(586);
    expect(largestDifference(pairs)).toBeLessThan(1e-6);
  });

  it('BIQ2021: names with spaces and parentheses, two unnamed columns', async () => {
    const { summary, byId } = await labelsOf('biq2021', '../biq2021/Train (Images and MOS).csv');
    expect(summary.rows).toBe(10000);
    expect(byId.get('ss03 (3753).jpg')?.mosSource?.value).toBe(0.8471);
  });

  it('AVA: the score is the mean of ten grades', async () => {
    const { summary, byId } = await labelsOf('ava', 'idealo/data/AVA/ava_labels_test.json');
    expect(summary.rows).toBe(25551);
    const votes = [2, 8, 19, 36, 76, 52, 16, 9, 3, 2];
    const mean = votes.reduce((sum, count, i) => sum + count * (i + 1), 0) / 223;
    expect(byId.get('231893.jpg')).toMatchObject({ votes, raters: 223 });
    expect(byId.get('231893.jpg')?.mosSource?.value).toBeCloseTo(mean, 12);
  });

  it('VisualQuality-R1: rows with conversations', async () => {
    const rows = 'visualquality_r1/RL-KADID-10K_train_scoring.first200.jsonl';
    const peer = await labelsOf('visualquality-r1', rows);
    const own = await labelsOf('kadid-10k', vq('KADID-10K/KADID-10K_mos.txt'));
    expect(peer.records).toHaveLength(200);
    expect(largestDifference(paired(own.records, peer.records))).toBeLessThan(1e-9);
  });

  it('Q-Align: the score in the id where there is no gt_score', async () => {
    const settings = { form: 'gt-score', range: [1, 4.93], direction: 'higher' };
    const { byId } = await labelsOf('q-align', 'qalign/train_kadid.first400.json', settings);
    expect(byId.get('kadid10k/I01_01_01.png')?.mos).toBeCloseTo(4.633587786259543, 12);
  });
});
