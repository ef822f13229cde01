import { binaryKernels } from './binary.ts';
import { creationKernels } from './creation.ts';
import { indexingKernels } from './indexing.ts';
import type { KernelTable } from './kernel.ts';
import { matrixKernels } from './matrix.ts';
import { reductionKernels } from './reduction.ts';
import { shapeKernels } from './shape.ts';
import { unaryKernels } from './unary.ts';

/** Every kernel that records into the lazy graph. The others are delegated to the plain JavaScript backend. */
export const LAZY_KERNELS: KernelTable = {
  ...unaryKernels,
  ...binaryKernels,
  ...reductionKernels,
  ...matrixKernels,
  ...shapeKernels,
  ...indexingKernels,
  ...creationKernels,
};
