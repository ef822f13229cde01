import { ConfigError } from '../../core/index.ts';
import { type EngineInfo, startEngine } from '../../engine/index.ts';
import type { StageContext } from '../stage-command.ts';

const BACKENDS = ['onnx', 'tensorflow', 'cpu'] as const;
type Backend = (typeof BACKENDS)[number];

/** Starts the engine as --backend and --threads ask, and says what computes. */
export async function startFor({ backend, threads, progress }: StageContext): Promise<EngineInfo> {
  if (backend !== undefined && !(BACKENDS as readonly string[]).includes(backend)) {
    throw new ConfigError(`--backend got "${backend}"`, { hint: `allowed are ${BACKENDS.join(', ')}` });
  }
  const info = await startEngine({
    ...(backend === undefined ? {} : { backend: backend as Backend }),
    ...(threads === undefined ? {} : { threads }),
    onWarning: (message) => progress.note(message),
  });
  progress.note(`engine: ${info.runtime}, ${info.threads} thread(s)`);
  return info;
}
