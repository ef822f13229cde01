import { z } from 'zod';

type KindOptions = readonly [z.core.$ZodTypeDiscriminable, ...z.core.$ZodTypeDiscriminable[]];

const shown = (value: unknown): string => (typeof value === 'number' ? String(value) : JSON.stringify(value));

/**
 * A union told apart by `kind`, whose errors say what was got and which kinds there are: of a kind that does not exist,
 * and of a bare value in the place of settings (`policyLoss: bapo`, `kl.coefficient: 0.02`).
 */
export function unionOfKinds<Options extends KindOptions>(options: Options) {
  const kinds = options
    .flatMap(({ _zod }) => [...(_zod.propValues?.kind ?? [])])
    .map((kind) => JSON.stringify(kind))
    .join(', ');
  return z.discriminatedUnion('kind', options, {
    error: ({ code, input, path }) => {
      if (code === 'invalid_union') {
        const kind = typeof input === 'object' && input !== null ? Reflect.get(input, 'kind') : undefined;
        return kind === undefined
          ? `is missing, allowed are ${kinds}`
          : `is ${shown(kind)}, allowed are ${kinds}`;
      }
      const key = path === undefined || path.length === 0 ? '' : `${path.map(String).join('.')}.`;
      return `is ${shown(input)}, allowed are settings by name, as in ${key}kind=...: one of ${kinds}`;
    },
  });
}
