import { availableParallelism, totalmem } from 'node:os';
import { ConfigError } from '../../core/index.ts';
import { readModelShape } from '../../model/index.ts';
import { type Counts, countsOf } from './counts.ts';
import { DEVICE_NAMES, DEVICES, type Device, type DeviceName } from './devices.ts';
import { type MemoryPlan, memoryPlan } from './memory.ts';
import type { PlanConfig } from './plan.config.ts';
import { type WorkPlan, workPlan } from './time.ts';

export interface StagePlan {
  counts: Counts;
  memory: MemoryPlan;
  work: WorkPlan;
  device: Device;
  /** Bytes that the device has. */
  available: number;
  /** Devices whose memory would hold the plan, smallest first. */
  fits: DeviceName[];
  /** Settings that would lower the peak and are not used yet. */
  savings: string[];
}

/**
 * What a stage would take, from config.json and preprocessor_config.json alone; of an adapter's folder, with its
 * base. ConfigError where maxPixels is below what the processor enlarges pictures to.
 */
export async function planStage(plan: PlanConfig): Promise<StagePlan> {
  const { config, processor } = await readModelShape(plan.model);
  if (plan.maxPixels !== null && plan.maxPixels < processor.minPixels) {
    throw new ConfigError(
      `maxPixels is ${plan.maxPixels}, below the ${processor.minPixels} to which the model's processor enlarges pictures`,
      { hint: `choose ${processor.minPixels} or more, or leave it out for ${processor.maxPixels}` },
    );
  }
  const device = DEVICES[plan.device](availableParallelism());
  const counts = countsOf(config, processor, plan);
  const memory = memoryPlan(config, counts, plan);
  return {
    counts,
    memory,
    work: workPlan(config, counts, plan, device),
    device,
    available: device.memory ?? totalmem(),
    fits: devicesOf(memory.total),
    savings: savingsOf(plan, memory),
  };
}

function devicesOf(bytes: number): DeviceName[] {
  return DEVICE_NAMES.flatMap((name) => {
    const { memory } = DEVICES[name](1);
    return memory !== null && memory >= bytes ? [{ name, memory }] : [];
  })
    .sort((a, b) => a.memory - b.memory)
    .map(({ name }) => name);
}

/** Only what bears on the moment that takes most: fewer pixels don't help where the optimiser is the peak. */
function savingsOf(plan: PlanConfig, { peak }: MemoryPlan): string[] {
  const trains = plan.stage !== 'score';
  const update = peak === 'update';
  const options: [helps: boolean, what: string][] = [
    [trains && plan.lora === null, 'lora'],
    [update && !plan.gradientCheckpointing, 'gradientCheckpointing'],
    [update && plan.microBatch > 1, 'a smaller microBatch'],
    [peak === 'rollout' && plan.stage === 'grpo' && plan.promptsPerStep > 1, 'fewer promptsPerStep'],
    [peak === 'rollout' && plan.stage === 'grpo' && plan.groupSize > 2, 'a smaller groupSize'],
    [peak === 'rollout' && plan.stage === 'score' && plan.batch > 1, 'a smaller batch'],
    [peak !== 'optimiser step', 'fewer pixels'],
    [plan.pictures > 0, 'fewer pictures'],
  ];
  return options.flatMap(([helps, what]) => (helps ? [what] : []));
}
