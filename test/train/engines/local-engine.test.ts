import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Rng } from '../../../src/core/index.ts';
import { startEngine } from '../../../src/engine/index.ts';
import {
  createModel,
  disposeParameters,
  generate,
  initialValues,
  loadModelFormat,
  promptSequence,
  type VisionLanguageModel,
} from '../../../src/model/index.ts';
import { createRolloutEngine, type EnginePrompt } from '../../../src/train/engines/index.ts';
import { PRESET } from '../stage-fixture.ts';

let model: VisionLanguageModel;
let prompts: EnginePrompt[];

beforeAll(async () => {
  await startEngine({ threads: 1 });
  const format = await loadModelFormat(PRESET);
  model = createModel(format, initialValues(format.config, new Rng('local engine')));
  prompts = ['How sharp is it?', 'How noisy is it, and where?'].map((content): EnginePrompt => {
    const messages = [{ role: 'user' as const, content }];
    return { sequence: promptSequence(model, messages, []), messages, images: [] };
  });
});
afterAll(() => disposeParameters(model.parameters));

describe('the local engine', () => {
  it('draws what generate draws from the same random stream', async () => {
    const engine = createRolloutEngine({ kind: 'local' });
    await engine.synchronise(model, 4);
    const sampling = { groupSize: 2, maxNewTokens: 6, temperature: 0.8 };
    const rng = new Rng('draw');
    const groups = await engine.sample(prompts, { ...sampling, rng });
    const again = new Rng('draw');
    const expected = await generate(
      model,
      prompts.map(({ sequence }) => sequence),
      { samplesPerPrompt: 2, maxNewTokens: 6, temperature: 0.8, rng: again },
    );
    expect(groups.map(({ completions }) => completions)).toEqual(
      expected.map((group) => group.map((completion) => ({ ...completion, version: 4 }))),
    );
    expect(rng.state()).toEqual(again.state());
  });

  it('has nothing to sample with before it is given weights, and after it is closed', async () => {
    const engine = createRolloutEngine({ kind: 'local' });
    const sampling = { groupSize: 1, maxNewTokens: 1, temperature: 1, rng: new Rng(0) };
    await expect(engine.sample(prompts, sampling)).rejects.toThrow(/synchronise comes before sample/);
    await engine.synchronise(model, 1);
    await engine.close();
    await expect(engine.sample(prompts, sampling)).rejects.toThrow(/synchronise comes before sample/);
  });
});
