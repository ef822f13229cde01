import { basename, resolve } from 'node:path';
import { z } from 'zod';
import { loadReport, writeReport } from '../../evaluate/index.ts';
import { packageInfo } from '../package-info.ts';
import type { Stage } from '../stage-command.ts';

export const evalReportConfigSchema = z.strictObject({
  folders: z.array(z.string().min(1)).min(1).describe('folders that hold results'),
  output: z.string().min(1).default('report.html').describe('the page to write'),
  title: z.string().min(1).nullable().default(null).describe('null names the folders'),
  images: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe('folder that image paths are relative to; null looks for the data set'),
  baseline: z.string().min(1).nullable().default(null).describe('null takes the first model'),
  gallery: z.int().min(0).default(4000).describe('most answers in the gallery; beyond it the worst are kept'),
  resamples: z.int().min(100).default(1000).describe('bootstrap resamples'),
  seed: z.int().min(0).default(0),
});
export type EvalReportConfig = z.infer<typeof evalReportConfigSchema>;

export const evalReportStage: Stage<EvalReportConfig> = {
  schema: evalReportConfigSchema,
  async run({ folders, output, title, images, baseline, gallery, resamples, seed }, { progress, print }) {
    const data = await loadReport(folders, {
      resamples,
      seed,
      progress,
      ...(images === null ? {} : { images }),
      ...(baseline === null ? {} : { baseline }),
    });
    const file = await writeReport(
      output,
      {
        ...data,
        title: title ?? `Q-Ponder: ${folders.map((folder) => basename(resolve(folder))).join(', ')}`,
        createdAt: new Date().toISOString(),
        provenance: [{ label: 'q-ponder', value: packageInfo().version }, ...data.provenance],
        gallerySize: gallery,
      },
      progress,
    );
    const left = file.leftOut === 0 ? '' : `, ${file.leftOut} with smaller errors left out`;
    print(`report: ${file.path} (${(file.bytes / 1e6).toFixed(1)} MB, ${file.shown} answers${left})`);
  },
};
