import { Html } from './html.ts';

/**
 * JSON for a script element. Inside one the reader of HTML looks for nothing but "</script" and "<!--", so no
 * text, however hostile, can leave it once "<" is spelled as an escape.
 */
export const scriptJson = (value: unknown): Html =>
  new Html(JSON.stringify(value).replaceAll('<', '\\u003c'));
