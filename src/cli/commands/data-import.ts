import { existsSync } from 'node:fs';
import { defineStageCommand } from '../stage-command.ts';

/** A word without a dot is the name of a manifest, unless there is a file of that name; a YAML file is one. */
const namesManifest = (word: unknown): boolean =>
  typeof word === 'string' && (/\.ya?ml$/i.test(word) || (!/[./\\]/.test(word) && !existsSync(word)));

/** "0,100" as the two ends; what is no pair of numbers goes on as it is and is refused with the key's own words. */
const parseRange = (text: string): unknown =>
  text
    .replace(/^\[|\]$/g, '')
    .split(',')
    .map((end) => (end.trim() === '' ? Number.NaN : Number(end)));

/**
 * Two forms of one command: a manifest knows a data set's columns, scale and split; for any other table the user
 * says them. The first argument decides which, and with it which keys the configuration has.
 */
export const dataImportCommand = ((): ReturnType<typeof defineStageCommand> => {
  const path = ['data', 'import'] as const;
  const summary = 'bring a published data set, or any table of images and scores, into the data set format';
  return {
    path,
    summary,
    configure(command) {
      const byManifest = (): boolean => namesManifest(command.processedArgs[0]);
      defineStageCommand<never>({
        path,
        summary,
        offers: [],
        shortcuts: [
          {
            flags: '[source]',
            get key() {
              return byManifest() ? 'manifest' : 'csv';
            },
            description: 'name or YAML file of a manifest (koniq-10k, kadid-10k, ...), or a table of scores',
          },
          { flags: '--images <folder>', key: 'imagesFolder', description: 'folder of the images' },
          {
            flags: '--labels <path>',
            key: 'labels',
            description: 'manifest: label file, or the folder of several; default beside the images',
          },
          {
            flags: '--labels-only',
            key: 'labelsOnly',
            description: 'manifest: do not look for the images; records are marked',
          },
          {
            flags: '--image-column <name>',
            key: 'imageColumn',
            description: 'table: column with the file name',
          },
          {
            flags: '--mos-column <name>',
            key: 'mosColumn',
            description: 'table: column with the mean opinion score',
          },
          {
            flags: '--mos-range <lowest,highest>',
            get key() {
              return byManifest() ? 'range' : 'mosRange';
            },
            description: 'ends of the scale of the scores; manifest: in place of its own',
            parse: parseRange,
          },
          {
            flags: '--direction <end>',
            key: 'direction',
            description: 'better end of the scale: higher or lower; manifest: in place of its own',
          },
          { flags: '--out <folder>', key: 'output', description: 'folder to write the data set to' },
        ],
        load: async () => {
          const stages = await import('../stages/data-import.ts');
          return (
            byManifest()
              ? stages.dataImportManifestStage
              : await stages.dataImportStage(
                  command.opts().dryRun === true ? undefined : command.processedArgs[0],
                )
          ) as never;
        },
      }).configure(command);
    },
  };
})();
