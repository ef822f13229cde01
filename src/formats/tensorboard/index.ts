export { EventsFile, type EventsFileOptions } from './events-file.ts';
