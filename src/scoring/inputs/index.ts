export { isNodeStream, isWebStream, type NodeByteStream, type WebByteStream } from './byte-streams.ts';
export { untilAborted } from './deadline.ts';
export { PICTURE_FORMATS, type PictureFormat, requireFormat } from './format.ts';
export { type BlobLike, openPicture, type Picture } from './open-picture.ts';
export { INPUT_DEFAULTS, type InputOptions, type InputRules, inputRules } from './options.ts';
