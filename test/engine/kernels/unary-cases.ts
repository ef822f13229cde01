import { tf } from '../../../src/engine/index.ts';
import {
  bool,
  type CaseTensor,
  float,
  int,
  type KernelCase,
  kernelCase,
  SPECIAL,
  spread,
} from './kernel-case.ts';

type Unary = (x: tf.Tensor) => tf.Tensor;

interface Function1 {
  kernel: string;
  run: Unary;
  /** Where gradients are compared; default [-2, 2]. */
  domain?: [number, number];
  gradient?: boolean;
  /** Accuracy that the two libraries share, where it is less than usual. */
  tolerance?: number;
  /** Replaces SPECIAL where the libraries rightly differ, see the comment there. */
  special?: CaseTensor;
}

const FUNCTIONS: Function1[] = [
  { kernel: 'Abs', run: tf.abs },
  { kernel: 'Acos', run: tf.acos, domain: [-0.9, 0.9] },
  { kernel: 'Acosh', run: tf.acosh, domain: [1.2, 4] },
  { kernel: 'Asin', run: tf.asin, domain: [-0.9, 0.9] },
  // asinh(-huge) overflows in the formula of either library.
  { kernel: 'Asinh', run: tf.asinh, special: float([Number.NaN, 0, 0.5, -0.5, 30, -30]) },
  { kernel: 'Atan', run: tf.atan },
  { kernel: 'Atanh', run: tf.atanh, domain: [-0.9, 0.9] },
  { kernel: 'Ceil', run: tf.ceil },
  { kernel: 'Cos', run: tf.cos, special: float([Number.NaN, Number.POSITIVE_INFINITY, 0, 30, -30, 100]) },
  { kernel: 'Cosh', run: tf.cosh, tolerance: 1e-5 },
  { kernel: 'Erf', run: tf.erf },
  { kernel: 'Exp', run: tf.exp, tolerance: 1e-5 },
  { kernel: 'Expm1', run: tf.expm1, tolerance: 1e-5 },
  { kernel: 'Floor', run: tf.floor },
  { kernel: 'Log', run: tf.log, domain: [0.1, 4] },
  { kernel: 'Log1p', run: tf.log1p, domain: [-0.9, 4] },
  { kernel: 'Neg', run: tf.neg },
  { kernel: 'Reciprocal', run: tf.reciprocal, domain: [0.3, 3] },
  { kernel: 'Round', run: tf.round },
  { kernel: 'Rsqrt', run: tf.rsqrt, domain: [0.1, 4] },
  { kernel: 'Sigmoid', run: tf.sigmoid },
  { kernel: 'Sign', run: tf.sign },
  { kernel: 'Sin', run: tf.sin, special: float([Number.NaN, Number.POSITIVE_INFINITY, 0, 30, -30, 100]) },
  { kernel: 'Sinh', run: tf.sinh, tolerance: 1e-5 },
  { kernel: 'Softplus', run: tf.softplus },
  { kernel: 'Sqrt', run: tf.sqrt, domain: [0.1, 4] },
  { kernel: 'Square', run: tf.square },
  {
    kernel: 'Tan',
    run: tf.tan,
    domain: [-1.2, 1.2],
    special: float([Number.NaN, 0, 30, -30]),
    tolerance: 1e-5,
  },
  { kernel: 'Tanh', run: tf.tanh },
  { kernel: 'IsNan', run: tf.isNaN, gradient: false },
  { kernel: 'IsInf', run: tf.isInf, gradient: false },
  { kernel: 'IsFinite', run: tf.isFinite, gradient: false },
  { kernel: 'Relu', run: tf.relu },
  { kernel: 'Relu6', run: tf.relu6, domain: [-3, 9] },
  { kernel: 'Elu', run: tf.elu },
  { kernel: 'Selu', run: tf.selu },
  { kernel: 'LeakyRelu', run: (x) => tf.leakyRelu(x, 0.3) },
  { kernel: 'ClipByValue', run: (x) => tf.clipByValue(x, -0.7, 1.1) },
  { kernel: 'Step', run: (x) => tf.step(x, 0.2) },
  { kernel: 'Identity', run: tf.clone },
  { kernel: 'Cast', run: (x) => tf.cast(x, 'bool'), gradient: false },
];

export const unaryCases: KernelCase[] = [
  ...FUNCTIONS.flatMap(({ kernel, run, domain = [-2, 2], gradient = true, tolerance, special = SPECIAL }) => {
    const options = tolerance === undefined ? {} : { tolerance };
    return [
      kernelCase(kernel, 'ordinary numbers', [spread(...domain, [3, 7])], run, { gradient, ...options }),
      kernelCase(kernel, 'special numbers', [special], run, options),
      kernelCase(kernel, 'one number', [spread(...domain, [])], run, { gradient, ...options }),
      kernelCase(kernel, 'no numbers', [float([], [2, 0])], run),
    ];
  }),
  kernelCase('EluGrad', 'through elu', [spread(-2, 2, [3, 7])], (x) => tf.grad((y) => tf.sum(tf.elu(y)))(x!)),
  kernelCase('Abs', 'integers', [int([-3, 0, 2, -(2 ** 30)])], tf.abs),
  kernelCase('Neg', 'integers', [int([-3, 0, 2])], tf.neg),
  kernelCase('Sign', 'integers', [int([-3, 0, 2])], tf.sign),
  kernelCase('Square', 'integers', [int([-3, 0, 2])], tf.square),
  kernelCase('Relu', 'integers', [int([-3, 0, 2])], tf.relu),
  kernelCase('ClipByValue', 'integers', [int([-3, 0, 2, 9])], (x) => tf.clipByValue(x, -1, 5)),
  kernelCase('ClipByValue', 'open above', [SPECIAL], (x) => tf.clipByValue(x, 0, Number.POSITIVE_INFINITY)),
  kernelCase('Cast', 'float to integer drops the fraction', [float([-2.7, -0.3, 0, 0.9, 2.7])], (x) =>
    tf.cast(x, 'int32'),
  ),
  kernelCase('Cast', 'integer to bool', [int([-2, 0, 1, 7])], (x) => tf.cast(x, 'bool')),
  kernelCase('Cast', 'integer to float', [int([-2, 0, 2 ** 24])], (x) => tf.cast(x, 'float32')),
  kernelCase('Cast', 'bool to float', [bool([0, 1, 1])], (x) => tf.cast(x, 'float32')),
  kernelCase('Cast', 'bool to integer to float', [bool([0, 1, 1])], (x) =>
    tf.cast(tf.cast(x, 'int32'), 'float32'),
  ),
  kernelCase('Cast', 'float to bool to float', [float([-2, 0, 0.5])], (x) =>
    tf.cast(tf.cast(x, 'bool'), 'float32'),
  ),
  kernelCase('Cast', 'gradient of a cast', [spread(-2, 2, [5])], (x) => tf.mul(tf.cast(x, 'float32'), x), {
    gradient: true,
  }),
  kernelCase(
    'Prelu',
    'slope per channel',
    [spread(-2, 2, [4, 3]), spread(0.1, 0.9, [3])],
    (x, alpha) => tf.prelu(x!, alpha!),
    { gradient: true },
  ),
  kernelCase('Prelu', 'special numbers', [SPECIAL, float([0.25])], (x, alpha) => tf.prelu(x!, alpha!)),
];
