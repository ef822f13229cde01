/**
 * Environments over HTTP, under the addresses that AgentGym's clients call.
 *
 * ```ts
 * const server = await startEnvironmentServer({ family: textFamily('textcraft'), settings: { port: 0 } });
 * console.log(server.url);
 * await server.stop();
 * ```
 */
export { SERVED_PROTOCOLS, type ServedProtocolName } from './served-protocol.ts';
export {
  type EnvironmentServerSettings,
  type EnvironmentServerSettingsInput,
  environmentServerSettingsSchema,
} from './settings.ts';
export {
  type EnvironmentServerOptions,
  type RunningEnvironmentServer,
  startEnvironmentServer,
} from './start-environment-server.ts';
