import { fileURLToPath } from 'node:url';

/** Root of the installed package: the same from source and from the build. */
export const PACKAGE_FOLDER: string = fileURLToPath(new URL('../..', import.meta.url));

/** The miniature: configuration, tokenizer and the committed base checkpoint. */
export const MINIATURE_FOLDER: string = fileURLToPath(
  new URL('../../models/qwen2.5-vl-mini', import.meta.url),
);
