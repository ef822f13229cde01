import * as zlib from 'node:zlib';
import type { Compressors } from 'hyparquet';

/** Node's own decompression; hyparquet brings Snappy alone. Zstandard is in Node from 22.15 on. */
export const compressors: Compressors = {
  GZIP: (bytes) => zlib.gunzipSync(bytes),
  BROTLI: (bytes) => zlib.brotliDecompressSync(bytes),
  ...('zstdDecompressSync' in zlib
    ? { ZSTD: zlib.zstdDecompressSync as (bytes: Uint8Array) => Uint8Array }
    : {}),
};
