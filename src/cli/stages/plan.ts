import { z } from 'zod';
import { MEMORY_KINDS, planConfigSchema, planStage, REACHED, type StagePlan } from '../../train/index.ts';
import type { Stage } from '../stage-command.ts';

const schema = planConfigSchema.extend({
  json: z.boolean().default(false).describe('print everything as JSON'),
});
type PlanCommandConfig = z.infer<typeof schema>;

/** GiB with two digits; TiB from 10,000 GiB on. */
const gib = (bytes: number): string =>
  bytes < 1e4 * 2 ** 30
    ? `${(bytes / 2 ** 30).toFixed(2)} GiB`
    : `${Number((bytes / 2 ** 40).toPrecision(3)).toLocaleString('en')} TiB`;
const hours = (value: number): string =>
  value < 1000
    ? `${Number(value.toPrecision(2))} h`
    : `${Number((value / 24 / 365).toPrecision(2)).toLocaleString('en')} years`;
const millions = (count: number): string => `${(count / 1e6).toFixed(1)} M`;

export const planCommandStage: Stage<PlanCommandConfig> = {
  schema,
  async run({ json, ...config }, { print }) {
    const plan = await planStage(config);
    if (json) print(JSON.stringify({ config, ...plan }, null, 2));
    else for (const line of describePlan(plan, config)) print(line);
  },
};

function describePlan(
  { counts, memory, work, device, available, fits, savings }: StagePlan,
  config: Omit<PlanCommandConfig, 'json'>,
): string[] {
  const { flops, seconds } = work;
  const step = seconds.rollout + seconds.scoring + seconds.update;
  const total = flops.rollout + flops.scoring + flops.update;
  const share = (value: number): string => `${Math.round((100 * value) / step)} %`;
  const room = available - memory.total;
  return [
    `${config.model}, ${config.stage}, ${config.precision}, ${device.name}`,
    `parameters ${millions(counts.parameters)}, trained ${millions(counts.trained)}`,
    `a picture of ${config.picture.width}x${config.picture.height}: ${counts.patches} patches, ${counts.imageTokens} tokens; a sequence: ${counts.sequence} tokens, ${counts.rows} a step`,
    '',
    ...MEMORY_KINDS.filter((kind) => memory.kinds[kind] > 0).map(
      (kind) => `  ${kind.padEnd(12)} ${gib(memory.kinds[kind]).padStart(12)}`,
    ),
    `  ${'together'.padEnd(12)} ${gib(memory.total).padStart(12)}, at its most in the ${memory.peak}`,
    room >= 0
      ? `${device.name}: ${gib(available)}, ${gib(room)} to spare`
      : `${device.name}: ${gib(available)}, ${gib(-room)} too little`,
    ...(room >= 0 ? [] : tooLittle(fits, savings)),
    '',
    `${(total / 1e12).toPrecision(3)} TFLOP a step; about ${hours((step * 1000) / 3600)} for 1,000 steps (rollout ${share(seconds.rollout)}, log-probabilities ${share(seconds.scoring)}, update ${share(seconds.update)})`,
    `assumed: ${REACHED.flops * 100} % of the device's operations and ${REACHED.bandwidth * 100} % of its bandwidth are reached; times are rough`,
    ...remarks(config),
  ];
}

const listed = (words: readonly string[]): string =>
  [words.slice(0, -1).join(', '), ...words.slice(-1)].filter(Boolean).join(' or ');

function tooLittle(fits: readonly string[], savings: readonly string[]): string[] {
  return [
    ...(savings.length > 0 ? [`  would take less: ${listed(savings)}`] : []),
    fits.length > 0
      ? `  would hold it: ${fits.join(', ')}`
      : '  no device listed here would hold it on one card',
  ];
}

/** What the figures leave unsaid, and somebody who pays for a card must know. */
function remarks({ device, precision, lora, freeze }: Omit<PlanCommandConfig, 'json'>): string[] {
  const notes: string[] = [];
  if (precision === 'bfloat16')
    notes.push('bfloat16 is what other libraries take: this program computes in float32');
  if (device !== 'cpu')
    notes.push('on a card this program needs --backend tensorflow and the package @tensorflow/tfjs-node-gpu');
  if (lora !== null && (freeze.vision !== null || freeze.merger !== null))
    notes.push('freeze is passed over: with lora only adapters are trained (lora.vision, lora.merger)');
  return notes.map((note) => `note: ${note}`);
}
