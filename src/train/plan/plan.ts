import { availableParallelism, totalmem } from 'node:os';
import { join } from 'node:path';
import { readModelConfig, readProcessorConfig } from '../../model/index.ts';
import { type Counts, countsOf } from './counts.ts';
import { DEVICES, type Device } from './devices.ts';
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
}

/** What a stage would take, from config.json and preprocessor_config.json alone. */
export async function planStage(plan: PlanConfig): Promise<StagePlan> {
  const config = await readModelConfig(join(plan.model, 'config.json'));
  const processor = await readProcessorConfig(join(plan.model, 'preprocessor_config.json'));
  const device = DEVICES[plan.device](availableParallelism());
  const counts = countsOf(config, processor, plan);
  return {
    counts,
    memory: memoryPlan(config, counts, plan),
    work: workPlan(config, counts, plan, device),
    device,
    available: device.memory ?? totalmem(),
  };
}
