export interface ReferenceOptions {
  learningRate: number;
  betas: [number, number];
  epsilon: number;
  /** By parameter. */
  weightDecay: number[];
  learningRateMultiplier: number[];
  maxGradientNorm: number | null;
}

/** AdamW and clip_grad_norm_ written out in double precision, number by number, from PyTorch's documentation. */
export class ReferenceAdamW {
  readonly parameters: number[][];
  readonly m: number[][];
  readonly v: number[][];
  t = 0;
  readonly #options: ReferenceOptions;

  constructor(parameters: number[][], options: ReferenceOptions) {
    this.parameters = parameters.map((p) => [...p]);
    this.m = parameters.map((p) => p.map(() => 0));
    this.v = parameters.map((p) => p.map(() => 0));
    this.#options = options;
  }

  /** Returns the gradient norm before clipping. */
  step(gradients: number[][], learningRate = this.#options.learningRate): number {
    const { betas, epsilon, weightDecay, learningRateMultiplier, maxGradientNorm } = this.#options;
    const norm = Math.sqrt(gradients.flat().reduce((sum, g) => sum + g * g, 0));
    const clip = maxGradientNorm === null ? 1 : Math.min(1, maxGradientNorm / (norm + 1e-6));
    this.t++;
    this.parameters.forEach((parameter, k) => {
      const lr = learningRate * learningRateMultiplier[k]!;
      parameter.forEach((_, i) => {
        const g = gradients[k]![i]! * clip;
        parameter[i]! -= lr * weightDecay[k]! * parameter[i]!;
        this.m[k]![i] = betas[0] * this.m[k]![i]! + (1 - betas[0]) * g;
        this.v[k]![i] = betas[1] * this.v[k]![i]! + (1 - betas[1]) * g * g;
        const mHat = this.m[k]![i]! / (1 - betas[0] ** this.t);
        const vHat = this.v[k]![i]! / (1 - betas[1] ** this.t);
        parameter[i]! -= (lr * mHat) / (Math.sqrt(vHat) + epsilon);
      });
    });
    return norm;
  }
}
