export * from './adamw.ts';
export * from './changing-scalars.ts';
export * from './gradient-accumulator.ts';
export type { SlotLayout } from './parameter-slots.ts';
