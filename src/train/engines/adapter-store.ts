import { readdir, readFile, rm } from 'node:fs/promises';
import { isAbsolute, join, posix, resolve } from 'node:path';
import {
  asStorageError,
  ConfigError,
  sha256OfFile,
  writeFileAtomic,
  writeFolderAtomic,
} from '../../core/index.ts';
import {
  ADAPTER_CONFIG_FILE,
  ADAPTER_WEIGHTS_FILE,
  saveModel,
  type VisionLanguageModel,
} from '../../model/index.ts';
import type { ServerEngineConfig } from './config.ts';

export interface StoredAdapter {
  version: number;
  /**
   * `<adapterName>-v<version>-<8 digits>`, the digits being of the weights: the same name is the same adapter, also
   * after a run went back to an older checkpoint. vLLM shares cached prefixes by this name alone
   * (vllm-project/vllm issue 30931), so that other weights under an old name would sample from a mixture.
   */
  name: string;
  /** Of its folder, for the server. */
  pathOnServer: string;
}

const KEPT = 2;
const FOLDER = /^v(\d{6,})$/;

/** Adapters as folders that a server reads: whole or not there, and the last two kept. */
export class AdapterStore {
  readonly #folder: string;
  readonly #folderOnServer: string;
  readonly #name: string;
  readonly #versions: number[] = [];

  constructor(config: Pick<ServerEngineConfig, 'adapterFolder' | 'adapterFolderOnServer' | 'adapterName'>) {
    this.#folder = resolve(config.adapterFolder);
    this.#folderOnServer = config.adapterFolderOnServer ?? this.#folder;
    this.#name = config.adapterName;
    if (!isAbsolute(this.#folderOnServer) && !posix.isAbsolute(this.#folderOnServer))
      throw new ConfigError(`adapterFolderOnServer is ${this.#folderOnServer}, allowed is an absolute path`, {
        hint: 'the server does not share our working folder',
      });
  }

  /** ConfigError for a model whose trained weights a server would not take. */
  async save(model: VisionLanguageModel, version: number): Promise<StoredAdapter> {
    const layers = layersFor(model);
    const folder = `v${String(version).padStart(6, '0')}`;
    const path = join(this.#folder, folder);
    await writeFolderAtomic(path, async (temporary) => {
      await saveModel(model, temporary);
      await listTargets(join(temporary, ADAPTER_CONFIG_FILE), layers);
    });
    const digits = (await sha256OfFile(join(path, ADAPTER_WEIGHTS_FILE))).slice(0, 8);
    this.#versions.push(version);
    return {
      version,
      name: `${this.#name}-v${version}-${digits}`,
      pathOnServer: `${this.#folderOnServer.replace(/\/+$/, '')}/${folder}`,
    };
  }

  /** Removes folders older than the last two that were saved, those of an earlier process included. */
  async prune(): Promise<void> {
    const oldest = Math.min(...this.#versions.slice(-KEPT));
    try {
      for (const name of await readdir(this.#folder)) {
        const version = FOLDER.exec(name)?.[1];
        if (version === undefined || Number(version) >= oldest) continue;
        await rm(join(this.#folder, name), { recursive: true, force: true });
      }
    } catch (error) {
      throw asStorageError(error, `removing old adapters in ${this.#folder}`);
    }
  }
}

function layersFor({ parameters: { adapter } }: VisionLanguageModel): string[] {
  if (adapter === undefined)
    throw new ConfigError(
      'a rollout server is given adapters, and this stage trains the weights themselves',
      {
        hint: 'set lora (lora: {} for the defaults), or sample with the local engine',
      },
    );
  const layers = [...adapter.pairs.keys()];
  const seeing = layers.find((layer) => layer.startsWith('visual.'));
  if (seeing === undefined) return layers;
  // vLLM warns in its own log, goes on without these matrices, and samples from another policy.
  throw new ConfigError(`the adapter changes ${seeing}, and rollout servers adapt the language model alone`, {
    hint: 'set lora.vision=false and lora.merger=false, or sample with the local engine',
  });
}

/**
 * Servers want a list of last names as target_modules: SGLang refuses the pattern that keeps PEFT off the layers of the
 * same names in the vision tower. The weights in the file decide what a server adapts.
 */
async function listTargets(path: string, layers: readonly string[]): Promise<void> {
  const config = JSON.parse(await readFile(path, 'utf8')) as Record<string, unknown>;
  const names = [...new Set(layers.map((layer) => layer.split('.').at(-1)!))].sort();
  await writeFileAtomic(path, `${JSON.stringify({ ...config, target_modules: names }, null, 2)}\n`);
}
