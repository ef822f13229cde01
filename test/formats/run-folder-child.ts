import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { Rng } from '../../src/core/index.ts';
import { openRun } from '../../src/formats/run-folder.ts';
import { loadTrainingState, saveTrainingState } from '../../src/formats/training-state.ts';

const stateSchema = z.object({
  step: z.int(),
  rng: z.object({ words: z.array(z.int()), spareNormal: z.number().nullable() }),
});

/**
 * A stand-in for training: a random walk of 20,000 weights with a decaying average as its moment, logged every
 * step and checkpointed every second one, that continues whatever run is in the folder.
 */
export async function trainUntil(folder: string, lastStep: number): Promise<void> {
  const run = await openRun(folder, { config: { seed: 5 }, stage: 'walk', keepCheckpoints: 2 });
  const rng = new Rng(5);
  let weights = new Float32Array(20_000);
  let moment = new Float32Array(20_000);
  let step = 0;
  if (run.resumedFrom !== null) {
    const { tensors, state } = await loadTrainingState(run.resumedFrom.folder, stateSchema);
    weights = new Float32Array(
      new Uint8Array(await readFile(join(run.resumedFrom.folder, 'weights'))).buffer,
    );
    moment = tensors.moment?.w as Float32Array<ArrayBuffer>;
    rng.restore(state.rng);
    step = state.step;
  }
  while (step < lastStep) {
    step++;
    for (let i = 0; i < weights.length; i++) {
      moment[i] = 0.9 * moment[i]! + rng.normal();
      weights[i]! += moment[i]!;
    }
    run.metrics(step, { loss: weights[0]! });
    run.sample(step, { text: `sample ${rng.uint32()}` });
    run.timings(step, { pid: process.pid });
    if (step % 2 === 0) {
      await run.saveCheckpoint(step, async (target) => {
        await writeFile(join(target, 'weights'), weights);
        await saveTrainingState(target, { moment: { w: moment } }, { step, rng: rng.state() });
      });
    }
  }
  await run.close();
}

if (process.argv[1]?.endsWith('run-folder-child.ts')) {
  await trainUntil(process.argv[2] as string, Number.POSITIVE_INFINITY);
}
