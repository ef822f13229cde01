import { z } from 'zod';

/** What a watchdog remembers of the metrics: the last values of each series, and values it compares with. */
export const memorySchema = z.strictObject({
  series: z.record(z.string(), z.array(z.number())),
  reference: z.record(z.string(), z.number()),
});
export type Memory = z.infer<typeof memorySchema>;

export const alarmStateSchema = z.strictObject({
  /** Bad steps in a row up to now. */
  bad: z.int().min(0),
  firstBadStep: z.int().min(0).nullable(),
  /** Whether it has barked about these steps already. */
  barked: z.boolean(),
});
export type AlarmState = z.infer<typeof alarmStateSchema>;

/** State of all watchdogs by name, plain JSON: part of a checkpoint, for an exact resume. */
export const watchdogStateSchema = z.record(
  z.string(),
  z.strictObject({ alarm: alarmStateSchema, memory: memorySchema }),
);
export type WatchdogState = z.infer<typeof watchdogStateSchema>;
