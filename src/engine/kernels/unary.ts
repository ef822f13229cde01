import { EngineError } from '../../core/index.ts';
import { add, binary, cast, compare, divide, multiply, subtract, unary, where } from '../build.ts';
import { isTensorType } from '../dtype.ts';
import type { GraphValue } from '../node.ts';
import { literal, operation, scalar } from '../node.ts';
import { input, type KernelTable, type LazyKernel, numberAttribute, stringAttribute } from './kernel.ts';

/** A function of real numbers: other types are converted to float32 first. */
const real =
  (build: (x: GraphValue) => GraphValue): LazyKernel =>
  (inputs) =>
    build(cast(input(inputs, 'x'), 'float32'));

/** A function that keeps int32; booleans are converted. */
const numeric =
  (build: (x: GraphValue) => GraphValue): LazyKernel =>
  (inputs) => {
    const x = input(inputs, 'x');
    return build(x.dtype === 'bool' ? cast(x, 'int32') : x);
  };

const direct = (type: string): LazyKernel => real((x) => unary(type, x));

const isNaNValue = (x: GraphValue): GraphValue => unary('IsNaN', x, 'bool');

/** x where it is NaN, else the given value: for operators of ONNX Runtime that lose NaN. */
const keepNaN = (x: GraphValue, value: GraphValue): GraphValue => where(isNaNValue(x), x, value);

/** exp(x) - 1 = tanh(x / 2) (exp(x) + 1), which stays exact near 0. */
function expm1(x: GraphValue): GraphValue {
  const half = unary('Tanh', multiply(x, literal('float32', 0.5)));
  return multiply(half, add(unary('Exp', x), literal('float32', 1)));
}

/** ln(1 + x) = x ln(u) / (u - 1) with u the rounded 1 + x (Kahan): exact near 0. */
function log1p(x: GraphValue): GraphValue {
  const one = literal('float32', 1);
  const u = add(x, one);
  const log = unary('Log', u);
  const corrected = multiply(x, divide(log, subtract(u, one)));
  return where(compare('Equal', u, one), x, where(compare('Equal', u, x), log, corrected));
}

function clip(x: GraphValue, low: GraphValue, high: GraphValue): GraphValue {
  return binary('Min', binary('Max', x, low), high);
}

/** -1, 0 or 1; 0 for NaN, as TensorFlow.js has it. */
function sign(x: GraphValue): GraphValue {
  const zero = literal(x.dtype, 0);
  const above = cast(compare('Greater', x, zero), x.dtype);
  return subtract(above, cast(compare('Less', x, zero), x.dtype));
}

const SELU_ALPHA = 1.6732632423543772;
const SELU_SCALE = 1.0507009873554805;

export const unaryKernels: KernelTable = {
  Abs: numeric((x) => unary('Abs', x)),
  Acos: direct('Acos'),
  Acosh: direct('Acosh'),
  Asin: direct('Asin'),
  Asinh: direct('Asinh'),
  Atan: direct('Atan'),
  Atanh: direct('Atanh'),
  Ceil: direct('Ceil'),
  Cos: direct('Cos'),
  Cosh: direct('Cosh'),
  Erf: direct('Erf'),
  Exp: direct('Exp'),
  Expm1: real(expm1),
  Floor: direct('Floor'),
  Log: direct('Log'),
  Log1p: real(log1p),
  Neg: numeric((x) => unary('Neg', x)),
  Reciprocal: direct('Reciprocal'),
  Round: direct('Round'),
  Rsqrt: real((x) => unary('Reciprocal', unary('Sqrt', x))),
  Sigmoid: direct('Sigmoid'),
  Sign: numeric(sign),
  Sin: direct('Sin'),
  Sinh: direct('Sinh'),
  Softplus: direct('Softplus'),
  Sqrt: direct('Sqrt'),
  Square: numeric((x) => multiply(x, x)),
  Tan: direct('Tan'),
  Tanh: direct('Tanh'),

  IsNan: real(isNaNValue),
  IsInf: real((x) => unary('IsInf', x, 'bool')),
  IsFinite: real((x) => compare('Less', unary('Abs', x), literal('float32', Number.POSITIVE_INFINITY))),

  Relu: numeric((x) => binary('Max', x, literal(x.dtype, 0))),
  Relu6: numeric((x) => clip(x, literal(x.dtype, 0), literal(x.dtype, 6))),
  Elu: direct('Elu'),
  EluGrad: (inputs) => {
    const y = input(inputs, 'y');
    const one = literal('float32', 1);
    const slope = where(compare('GreaterOrEqual', y, literal('float32', 0)), one, add(y, one));
    return multiply(input(inputs, 'dy'), slope);
  },
  Selu: real((x) =>
    operation('Selu', [x], 'float32', x.shape, {
      attributes: { alpha: { float: SELU_ALPHA }, gamma: { float: SELU_SCALE } },
    }),
  ),
  LeakyRelu: (inputs, attributes) => {
    const x = cast(input(inputs, 'x'), 'float32');
    return leaky(x, scalar('float32', numberAttribute(attributes, 'alpha')));
  },
  Prelu: (inputs) => leaky(input(inputs, 'x'), input(inputs, 'alpha')),
  ClipByValue: (inputs, attributes) => {
    const x = input(inputs, 'x');
    const dtype = x.dtype === 'int32' ? 'int32' : 'float32';
    const low = scalar(dtype, numberAttribute(attributes, 'clipValueMin'));
    const high = scalar(dtype, numberAttribute(attributes, 'clipValueMax'));
    return clip(cast(x, dtype), low, high);
  },
  Step: (inputs, attributes) => {
    const x = cast(input(inputs, 'x'), 'float32');
    const alpha = scalar('float32', numberAttribute(attributes, 'alpha'));
    const above = compare('Greater', x, literal('float32', 0));
    return keepNaN(x, where(above, literal('float32', 1), alpha));
  },

  Identity: (inputs) => input(inputs, 'x'),
  Cast: (inputs, attributes) => {
    const dtype = stringAttribute(attributes, 'dtype');
    if (!isTensorType(dtype)) throw new EngineError(`the kernel Cast cannot convert a tensor to ${dtype}`);
    return cast(input(inputs, 'x'), dtype);
  },
};

function leaky(x: GraphValue, slope: GraphValue): GraphValue {
  return where(compare('Less', x, literal(x.dtype, 0)), multiply(x, slope), x);
}
