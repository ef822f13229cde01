import { ConfigError } from '../../core/index.ts';

/** What a picture may be and take before it is refused. Holds for every kind of input. */
export interface InputOptions {
  /** Encoded bytes of a file, stream, data URL or reply. Default 134,217,728 (128 MiB). */
  maxBytes?: number;
  /** Width times height, looked at before anything is decoded. Default 150,000,000: the largest cameras. */
  maxPixels?: number;
  /** Milliseconds until a stream or a server must have sent everything. Default 30,000. */
  timeoutMs?: number;
  /**
   * Fetch `http:` and `https:` URLs. Default false. Private, loopback, link-local and other special addresses
   * are refused all the same, after the name is resolved and again at every redirect.
   */
  allowHttp?: boolean;
  /** Render SVG drawings. Default false: they are programs, and no photographs. */
  allowSvg?: boolean;
}

/** The options with their defaults. */
export type InputRules = Required<InputOptions>;

export const INPUT_DEFAULTS: Readonly<InputRules> = {
  maxBytes: 128 * 1024 * 1024,
  maxPixels: 150_000_000,
  timeoutMs: 30_000,
  allowHttp: false,
  allowSvg: false,
};

/** ConfigError for a limit that is no positive whole number, or a switch that is no boolean. */
export function inputRules(options: InputOptions = {}): InputRules {
  const rules = { ...INPUT_DEFAULTS };
  for (const name of ['maxBytes', 'maxPixels', 'timeoutMs'] as const) {
    const value = options[name];
    if (value === undefined) continue;
    if (!Number.isSafeInteger(value) || value < 1) {
      throw new ConfigError(`input.${name} is ${String(value)}, allowed is a whole number from 1`);
    }
    rules[name] = value;
  }
  for (const name of ['allowHttp', 'allowSvg'] as const) {
    const value = options[name];
    if (value === undefined) continue;
    if (typeof value !== 'boolean') {
      throw new ConfigError(`input.${name} is ${String(value)}, allowed are true and false`);
    }
    rules[name] = value;
  }
  return rules;
}
