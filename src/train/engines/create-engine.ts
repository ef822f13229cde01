import type { RolloutEngineConfig } from './config.ts';
import { LocalEngine } from './local-engine.ts';
import type { RolloutEngine } from './rollout-engine.ts';
import { ServerEngine, type ServerEngineOptions } from './server-engine.ts';
import { sglangProtocol } from './sglang-protocol.ts';
import { vllmProtocol } from './vllm-protocol.ts';

/** The engine that a configuration names. It asks nothing yet: a server is first needed by `synchronise`. */
export function createRolloutEngine(
  config: RolloutEngineConfig,
  options: ServerEngineOptions = {},
): RolloutEngine {
  switch (config.kind) {
    case 'local':
      return new LocalEngine();
    case 'vllm':
      return new ServerEngine(config, vllmProtocol, options);
    case 'sglang':
      return new ServerEngine(config, sglangProtocol, options);
  }
}
