/**
 * The HTTP face of scoring.
 *
 * ```ts
 * const server = await startServer({ model: 'path/to/model', settings: { port: 0 }, tokens });
 * console.log(server.url);
 * await server.stop();
 * ```
 */
export * from './environments/index.ts';
export type { LogEntry } from './http/log-entry.ts';
export { ERROR_META, type McpOptions, serveMcp } from './mcp/index.ts';
export { type ServerSettings, type ServerSettingsInput, serverSettingsSchema } from './settings.ts';
export { type RunningServer, type StartOptions, startServer } from './start-server.ts';
