export * from './adapter.ts';
export * from './create-adapter.ts';
export * from './dropping-out.ts';
export * from './merge.ts';
export * from './peft-config.ts';
export * from './peft-files.ts';
export * from './settings.ts';
export * from './targets.ts';
