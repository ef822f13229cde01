import {
  add,
  binary,
  broadcastShape,
  cast,
  compare,
  divide,
  isZero,
  multiply,
  reshape,
  subtract,
  unary,
  where,
} from '../build.ts';
import type { GraphValue } from '../node.ts';
import { literal, operation } from '../node.ts';
import { input, inputList, type KernelInputs, type KernelTable, type LazyKernel } from './kernel.ts';

type Build = (a: GraphValue, b: GraphValue) => GraphValue;

/** Arithmetic on floats and integers; booleans are counted as 0 and 1 and the result is a boolean again. */
const arithmetic =
  (build: Build): LazyKernel =>
  (inputs) => {
    const [a, b] = operands(inputs);
    if (a.dtype !== 'bool') return build(a, b);
    return cast(build(cast(a, 'int32'), cast(b, 'int32')), 'bool');
  };

/** A comparison; ONNX Runtime orders no booleans, so they are counted as 0 and 1. */
const ordering =
  (build: Build): LazyKernel =>
  (inputs) => {
    const [a, b] = operands(inputs);
    return a.dtype === 'bool' ? build(cast(a, 'int32'), cast(b, 'int32')) : build(a, b);
  };

const logical =
  (type: string): LazyKernel =>
  (inputs) => {
    const [a, b] = operands(inputs);
    return compare(type, cast(a, 'bool'), cast(b, 'bool'));
  };

function operands(inputs: KernelInputs): [GraphValue, GraphValue] {
  return [input(inputs, 'a'), input(inputs, 'b')];
}

/**
 * floor(a / b) as int32. In float64, where every int32 is exact and dividing by 0 gives a number instead of
 * the hardware exception that ends the process; TensorFlow.js stores that number, an infinity, as 0.
 */
function floorDivide(a: GraphValue, b: GraphValue): GraphValue {
  const divisor = cast(b, 'float64');
  const quotient = unary('Floor', binary('Div', cast(a, 'float64'), divisor));
  return where(isZero(divisor), literal('int32', 0), cast(quotient, 'int32'));
}

/**
 * The remainder with the sign of the divisor: fmod, moved up by the divisor where the signs differ. In
 * float64, as in JavaScript, so that the move does not round; an integer divided by 0 leaves 0.
 */
function modulo(a: GraphValue, b: GraphValue): GraphValue {
  const dividend = cast(a, 'float64');
  const divisor = cast(b, 'float64');
  const zero = literal('float64', 0);
  const plain = floatRemainder(dividend, divisor);
  const sameSign = compare('Equal', compare('Less', dividend, zero), compare('Less', divisor, zero));
  const moved = floatRemainder(binary('Add', plain, divisor), divisor);
  const remainder = where(sameSign, plain, moved);
  if (a.dtype === 'float32') return cast(remainder, 'float32');
  return where(isZero(divisor), literal('int32', 0), cast(remainder, 'int32'));
}

/** C's fmod: the remainder with the sign of the dividend. */
function floatRemainder(a: GraphValue, b: GraphValue): GraphValue {
  return operation('Mod', [a, b], a.dtype, broadcastShape(a.shape, b.shape), { attributes: { fmod: 1 } });
}

export const binaryKernels: KernelTable = {
  Add: arithmetic(add),
  Sub: arithmetic(subtract),
  Multiply: arithmetic(multiply),
  RealDiv: (inputs) => {
    const [a, b] = operands(inputs);
    return divide(cast(a, 'float32'), cast(b, 'float32'));
  },
  FloorDiv: (inputs) => floorDivide(...operands(inputs)),
  Mod: (inputs) => modulo(...operands(inputs)),
  Pow: arithmetic((a, b) => binary('Pow', a, b)),
  Maximum: arithmetic((a, b) => binary('Max', a, b)),
  Minimum: arithmetic((a, b) => binary('Min', a, b)),
  SquaredDifference: arithmetic((a, b) => {
    const difference = subtract(a, b);
    return multiply(difference, difference);
  }),
  AddN: (inputs) => inputList(inputs).reduce((sum, value) => add(sum, value)),

  Equal: (inputs) => compare('Equal', ...operands(inputs)),
  NotEqual: (inputs) => unary('Not', compare('Equal', ...operands(inputs))),
  Greater: ordering((a, b) => compare('Greater', a, b)),
  GreaterEqual: ordering((a, b) => compare('GreaterOrEqual', a, b)),
  Less: ordering((a, b) => compare('Less', a, b)),
  LessEqual: ordering((a, b) => compare('LessOrEqual', a, b)),
  LogicalAnd: logical('And'),
  LogicalOr: logical('Or'),
  LogicalNot: (inputs) => unary('Not', cast(input(inputs, 'x'), 'bool')),

  Select: (inputs) => {
    const condition = input(inputs, 'condition');
    const a = input(inputs, 't');
    const b = input(inputs, 'e');
    return where(alignedCondition(condition, a.shape.length), a, b);
  },
};

/** A condition of rank 1 chooses whole rows; others broadcast. */
function alignedCondition(condition: GraphValue, rank: number): GraphValue {
  if (condition.shape.length !== 1 || rank <= 1) return condition;
  return reshape(condition, [condition.shape[0]!, ...Array<number>(rank - 1).fill(1)]);
}
