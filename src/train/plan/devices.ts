/** What the estimate of time needs to know of a device; figures of the makers' data sheets. */
export interface Device {
  name: string;
  /** Bytes. Null: this machine's own. */
  memory: number | null;
  /** Floating-point operations a second in matrix products, dense, by type. */
  flops: { float32: number; bfloat16: number };
  /** Bytes a second from memory. */
  bandwidth: number;
}

const GIB = 2 ** 30;
const gpu = (name: string, gib: number, float32: number, bfloat16: number, gigabytes: number): Device => ({
  name,
  memory: gib * GIB,
  flops: { float32: float32 * 1e12, bfloat16: bfloat16 * 1e12 },
  bandwidth: gigabytes * 1e9,
});

/**
 * Of `cpu` the figures are those of a core of 2020 with AVX-512, times the cores; all others are published peaks of
 * one card, without sparsity, float32 outside the tensor cores.
 */
export const DEVICES = {
  cpu: (cores: number): Device => ({
    name: `${cores} CPU cores`,
    memory: null,
    flops: { float32: cores * 100e9, bfloat16: cores * 100e9 },
    bandwidth: Math.min(cores * 10e9, 100e9),
  }),
  'rtx-3090': () => gpu('RTX 3090', 24, 35.6, 71, 936),
  'rtx-4090': () => gpu('RTX 4090', 24, 82.6, 165, 1008),
  a6000: () => gpu('RTX A6000', 48, 38.7, 154.8, 768),
  l40s: () => gpu('L40S', 48, 91.6, 362, 864),
  'a100-40gb': () => gpu('A100 40 GB', 40, 19.5, 312, 1555),
  'a100-80gb': () => gpu('A100 80 GB', 80, 19.5, 312, 2039),
  h100: () => gpu('H100 SXM', 80, 67, 989, 3350),
  h200: () => gpu('H200', 141, 67, 989, 4800),
} satisfies Record<string, (cores: number) => Device>;
export type DeviceName = keyof typeof DEVICES;
export const DEVICE_NAMES = Object.keys(DEVICES) as [DeviceName, ...DeviceName[]];

/** Shares of the peaks that a well-kept program reaches: assumptions, printed with every estimate. */
export const REACHED = { flops: 0.4, bandwidth: 0.6 } as const;
