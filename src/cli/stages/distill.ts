import { join } from 'node:path';
import { z } from 'zod';
import { InputError } from '../../core/index.ts';
import { type ImageRecord, loadDataset, loadShippedPrompt, SPLITS } from '../../data/index.ts';
import {
  createOracleTeacher,
  createTemplateTeacher,
  distill,
  filterConfigSchema,
  oracleConfigSchema,
  type TeachingRecord,
  templateConfigSchema,
} from '../../teacher/index.ts';
import type { Stage } from '../stage-command.ts';

export const distillConfigSchema = z.strictObject({
  dataset: z.string().min(1).describe('data set folder with records.jsonl'),
  output: z.string().min(1).describe('folder for accepted.jsonl, rejected.jsonl and report.json'),
  splits: z.array(z.enum(SPLITS)).min(1).default(['train']).describe('splits to teach about'),
  teacher: z.enum(['oracle', 'template']).default('oracle'),
  oracle: oracleConfigSchema.prefault({}),
  template: templateConfigSchema.prefault({}),
  answersPerImage: z.int().positive().default(1).describe('answers asked for about each image'),
  prompt: z.string().min(1).default('student/quality.v1').describe('prompt that the rows answer'),
  filters: filterConfigSchema.prefault({}),
  concurrency: z.int().positive().default(1).describe('requests in flight'),
  maxFailureShare: z.number().min(0).max(1).default(0.05).describe('share of records without an answer'),
});
export type DistillConfig = z.infer<typeof distillConfigSchema>;

/** What a teacher is told; an imported record's empty list of distortions means that nobody knows them. */
function teachingRecord(record: ImageRecord): TeachingRecord[] {
  if (record.mos === null) return [];
  const { id, image, dataset, split, mos, content, source } = record;
  const shared = { id, image, dataset, split, mos };
  if (source === 'imported') return [shared];
  const distortions = record.distortions.map(({ type, level }) => ({ type, level }));
  return [{ ...shared, distortions, ...(content === null ? {} : { contentKind: content.kind }) }];
}

export const distillStage: Stage<DistillConfig> = {
  schema: distillConfigSchema,
  async run(config, { progress, signal, print }) {
    const { records } = await loadDataset(config.dataset);
    const chosen = records.filter(({ split }) => config.splits.includes(split));
    const taught = chosen.flatMap(teachingRecord);
    if (taught.length === 0) {
      throw new InputError(
        `${config.dataset} has no image with a score in the split(s) ${config.splits.join(', ')}`,
        { hint: `set splits to some of ${SPLITS.join(', ')}` },
      );
    }
    if (taught.length < chosen.length) {
      progress.note(`${chosen.length - taught.length} images without a score are left out`);
    }
    signal.throwIfAborted();
    const teacher =
      config.teacher === 'oracle'
        ? createOracleTeacher(config.oracle)
        : createTemplateTeacher(config.template);
    const output = {
      accepted: join(config.output, 'accepted.jsonl'),
      rejected: join(config.output, 'rejected.jsonl'),
      report: join(config.output, 'report.json'),
    };
    const { report } = await distill(taught, teacher, config.filters, {
      prompt: await loadShippedPrompt(config.prompt),
      concurrency: config.concurrency,
      answersPerImage: config.answersPerImage,
      maxFailureShare: config.maxFailureShare,
      output,
      progress,
    });
    print(`${output.accepted}: ${report.accepted} of ${report.asked} answers accepted`);
    for (const [reason, count] of Object.entries(report.byReason)) {
      if (count > 0) print(`  refused for ${reason}: ${count}`);
    }
    if (report.failed.length > 0) print(`  no answer: ${report.failed.length} (see ${output.report})`);
  },
};
