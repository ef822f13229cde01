import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { grpoConfigSchema, trainGrpo } from '../../src/train/index.ts';
import { type MiniatureServer, startMiniatureServer } from './engines/miniature-server.ts';
import { createStageFixture, metricRows, type StageFixture, teachContract } from './stage-fixture.ts';

let fixture: StageFixture;
let server: MiniatureServer;
let settings: Record<string, unknown>;

beforeAll(async () => {
  fixture = await createStageFixture();
  const taught = await teachContract(fixture);
  server = await startMiniatureServer(taught);
  settings = {
    model: taught,
    dataset: fixture.data,
    steps: 3,
    promptsPerStep: 4,
    groupSize: 4,
    maxNewTokens: 32,
    truncated: 'keep',
    lora: { rank: 4, alpha: 8 },
    optimizer: { learningRate: 1e-2, warmupShare: 0 },
    kl: { coefficient: { value: 0 } },
    validateEvery: 99,
    checkpointEvery: 99,
  };
});
afterAll(async () => {
  await server.close();
  await fixture.remove();
});

const train = async (name: string, changes: Record<string, unknown>) => {
  const run = fixture.path(name);
  await trainGrpo(grpoConfigSchema.parse({ ...settings, ...changes, run }));
  return (await metricRows(run)).filter((row) => 'samples/trained' in row);
};

describe('GRPO with a server that samples', () => {
  it.each(['vllm', 'sglang'] as const)(
    '%s: each step is sampled by the adapter of the step before',
    async (kind) => {
      server.reset();
      const engine = { kind, baseUrl: server.baseUrl, adapterFolder: fixture.path(`adapters-${kind}`) };
      const rows = await train(kind, { engine });
      expect(rows).toHaveLength(3);
      for (const row of rows) {
        expect(row['rollout/failed']).toBe(0);
        expect(row['samples/trained']).toBe(16);
        // Were an update missing on the server, tokens would differ from the trainer's by what it has learnt.
        expect(row['sampling/logp_difference/max']).toBeLessThan(1e-3);
        expect(row['staleness/logp_difference/mean']).toBeUndefined();
      }
      expect(rows[2]!.gradientNorm).toBeGreaterThan(0);
    },
  );

  it('a policy without an adapter has nothing to push', async () => {
    const engine = { kind: 'vllm', baseUrl: server.baseUrl, adapterFolder: fixture.path('no-adapters') };
    await expect(train('no-adapter', { engine, lora: null })).rejects.toMatchObject({ code: 'CONFIG' });
  });
});
