export * from './captions.ts';
export * from './distill.ts';
export * from './filters.ts';
export * from './oracle.ts';
export { ORACLE_DEFECTS, type OracleDefect } from './oracle-defects.ts';
export * from './rows.ts';
export * from './teacher.ts';
export * from './template.ts';
