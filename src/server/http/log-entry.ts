/** What the server tells its owner. No field holds anything that a client wrote. */
export type LogEntry =
  | { event: 'listening'; address: string; port: number }
  | { event: 'request'; route: string; method: string; status: number; ms: number }
  /** A defect of ours: the kind of error and where it happened, without its message. */
  | { event: 'defect'; route: string; error: string; frames: string[] }
  | { event: 'reload'; outcome: 'ok' | 'failed'; message?: string }
  | { event: 'stopping'; waiting: number }
  | { event: 'stopped' };
