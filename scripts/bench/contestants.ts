import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { EngineProcess } from './engine-process.ts';

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

export interface Engines {
  onnx: EngineProcess;
  wasm: EngineProcess | undefined;
  /** One per number of threads. */
  torch: EngineProcess[];
  /** Why an engine does not take part. */
  absent: string[];
}

export async function startEngines(
  folder: string,
  options: { threads: number; python: string; wasm: boolean },
): Promise<Engines> {
  const absent: string[] = [];
  // The loader that runs this file runs the workers too.
  const worker = (name: 'onnx' | 'wasm', threads: number): Promise<EngineProcess> =>
    EngineProcess.start(name, process.execPath, [
      ...process.execArgv,
      path('worker.ts'),
      name,
      String(threads),
      folder,
    ]);
  const onnx = await worker('onnx', options.threads);
  const wasm = options.wasm ? await worker('wasm', 1) : undefined;
  if (wasm === undefined) absent.push('tfjs-wasm: left out by --no-wasm');
  const torch: EngineProcess[] = [];
  const why = torchIsMissing(options.python);
  if (why === undefined) {
    for (let threads = 1; threads <= options.threads; threads *= 2)
      torch.push(
        await EngineProcess.start(`torch, ${threads} thread${threads > 1 ? 's' : ''}`, options.python, [
          path('torch_bench.py'),
          String(threads),
          folder,
        ]),
      );
  } else absent.push(`PyTorch: ${why}`);
  return { onnx, wasm, torch, absent };
}

export function allOf({ onnx, wasm, torch }: Engines): EngineProcess[] {
  return [onnx, ...(wasm === undefined ? [] : [wasm]), ...torch];
}

function torchIsMissing(python: string): string | undefined {
  const { status, error, stderr } = spawnSync(python, ['-c', 'import torch'], { encoding: 'utf8' });
  if (status === 0) return undefined;
  return `${python} -c "import torch" failed: ${error?.message ?? stderr.trim().split('\n').at(-1)}`;
}
