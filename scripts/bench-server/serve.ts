/** The server that the benchmark measures, in a process of its own. */
import { startServer } from '../../src/server/index.ts';
import { serverSettingsSchema } from '../../src/server/settings.ts';

const [model = '', mode = 'expected'] = process.argv.slice(2);
const settings = serverSettingsSchema.parse({ port: 0, mode });
const server = await startServer({ model, settings });
process.stdout.write(`${server.url}\n`);
process.once('SIGTERM', () => void server.stop());
