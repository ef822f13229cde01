import type { Progress } from '../core/index.ts';

/** What the caller of a stage may give besides its configuration. */
export interface StageOptions {
  progress?: Progress;
  /** Asks the stage to write a checkpoint and stop; its reason is thrown. */
  signal?: AbortSignal;
  /** Keys of servers that a stage asks, by the name of their variable. */
  environment?: Readonly<Record<string, string | undefined>>;
  /** A picture as a data URL, for judges that see pictures. */
  pictureUrl?: (path: string) => Promise<string>;
}

export interface StageResult {
  /** Folder of the model that the stage recommends, Hugging Face layout. */
  model: string;
  /** Step it was taken from. */
  step: number;
  /** Mean of SRCC and PLCC on the validation split at that step, if it was measured. */
  validation?: number;
}
