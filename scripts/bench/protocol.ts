/** What the bench asks of an engine's process, one JSON object a line on its standard input. */
export interface Request {
  task: Task;
  /** Steps to train, or generations to make; each is timed by itself. */
  repeats: number;
}

export const TASKS = [
  'language-training',
  'language-generation',
  'miniature-training',
  'miniature-generation',
] as const;
export type Task = (typeof TASKS)[number];

/** The answer, on a line of standard output that starts with `ANSWER`. */
export interface Answer {
  /** One per repeat. */
  milliseconds: number[];
  /** Processor time of all threads, one per repeat: what a busy machine distorts less. */
  processorMilliseconds: number[];
  /** Losses of the steps, or the token ids of the last generation, row by row: proof that work was done. */
  evidence: number[];
}

/** What a process says once it is ready, on a line that starts with `READY`. */
export interface Ready {
  /** Library, version, threads and whatever else decides its speed. */
  description: string;
}

export const READY_PREFIX = 'READY ';
export const ANSWER_PREFIX = 'ANSWER ';
