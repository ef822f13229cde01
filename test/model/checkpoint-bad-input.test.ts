import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import type { QPonderError } from '../../src/core/index.ts';
import { baseFingerprint, inspectModel, requireModelFolder } from '../../src/model/index.ts';
import { changeJson, tinyFolder } from './tiny-folder.ts';

let folder: string;
beforeEach(async () => {
  folder = await tinyFolder();
});

async function refused(): Promise<QPonderError> {
  try {
    await requireModelFolder(folder);
  } catch (error) {
    return error as QPonderError;
  }
  throw new Error('it was accepted');
}

async function emptied(...names: string[]): Promise<void> {
  await rm(folder, { recursive: true });
  await mkdir(folder);
  for (const name of names) await writeFile(join(folder, name), 'x');
}

const WANTED = 'a model folder was expected (config.json, tokenizer.json, model.safetensors)';

describe('what is no model is said in one sentence', () => {
  test.each<[string, string[], string]>([
    ['an empty folder', [], `is empty: ${WANTED}`],
    ['GGUF', ['model-q4.gguf', 'README.md'], `holds weights as GGUF (model-q4.gguf): ${WANTED}`],
    ['a pickle', ['pytorch_model.bin'], `holds weights as PyTorch pickle (pytorch_model.bin): ${WANTED}`],
    ['ONNX', ['model.onnx'], `holds weights as ONNX (model.onnx): ${WANTED}`],
    ['pictures', ['a.png', 'b.png'], '/config.json is missing: no such file or folder'],
  ])('%s', async (_, names, message) => {
    await emptied(...names);
    const error = await refused();
    expect(error.code).toBe('CHECKPOINT');
    expect(error.message).toBe(`${folder}${message.startsWith('/') ? '' : ' '}${message}`);
  });

  test('the folder of a run points to its model', async () => {
    await emptied('metrics.jsonl');
    await mkdir(join(folder, 'checkpoints'));
    await mkdir(join(folder, 'model'));
    expect(await refused()).toMatchObject({
      code: 'CHECKPOINT',
      message: `${folder} is the folder of a run: ${WANTED}`,
      hint: `give ${folder}/model, the model that the run has made`,
    });
  });

  test('a model whose weights are a pickle or GGUF alone', async () => {
    await writeFile(join(folder, 'pytorch_model-00001-of-00002.bin'), 'x');
    expect(await refused()).toMatchObject({
      code: 'CHECKPOINT',
      message: `${folder} holds weights as PyTorch pickle (pytorch_model-00001-of-00002.bin); readable are safetensors files alone`,
    });
  });

  test.each(['llama', 'qwen3_vl'])('a model of type %s', async (type) => {
    await changeJson(folder, 'config.json', (json) => ({ ...json, model_type: type }));
    const message = `${join(folder, 'config.json')} describes a model of type "${type}", readable are Qwen2.5-VL ("qwen2_5_vl"); Qwen2-VL ("qwen2_vl"); Qwen2.5, text alone ("qwen2")`;
    expect(await refused()).toMatchObject({ code: 'CHECKPOINT', message });
    for (const look of [inspectModel, baseFingerprint]) await expect(look(folder)).rejects.toThrow(message);
  });
});

describe('a tokenizer of another model', () => {
  type Token = { id: number; content: string };
  const tokens = (json: Record<string, unknown>) => json.added_tokens as Token[];
  const tokenizer = () => join(folder, 'tokenizer.json');

  test('more tokens than the embedding has rows', async () => {
    await changeJson(folder, 'tokenizer.json', (json) => ({
      ...json,
      added_tokens: [...tokens(json), { ...tokens(json)[0], id: 5000, content: '<|more|>' }],
    }));
    expect((await refused()).message).toMatch(
      new RegExp(`^${tokenizer()} has 5001 tokens, the model only \\d+$`),
    );
  });

  test('a special token is missing', async () => {
    await changeJson(folder, 'tokenizer.json', (json) => ({
      ...json,
      added_tokens: tokens(json).filter(({ content }) => content !== '<|image_pad|>'),
    }));
    expect((await refused()).message).toMatch(
      /tokenizer\.json is the tokenizer of another model: it lacks <\|image_pad\|> \(image_token_id \d+\)$/,
    );
  });

  test('special tokens have other ids', async () => {
    await changeJson(folder, 'config.json', (json) => ({
      ...json,
      image_token_id: json.video_token_id,
      video_token_id: json.image_token_id,
    }));
    expect((await refused()).message).toMatch(
      /another model: <\|image_pad\|> is \d+, config\.json says image_token_id \d+; <\|video_pad\|> is/,
    );
  });

  test('the template writes a token that the tokenizer does not know', async () => {
    await changeJson(folder, 'tokenizer_config.json', (json) => ({
      ...json,
      chat_template: `<|begin_of_text|>${json.chat_template as string}`,
    }));
    expect((await refused()).message).toBe(
      `the chat template of ${folder} writes <|begin_of_text|>, which its tokenizer.json does not know`,
    );
  });
});
