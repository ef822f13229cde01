const EDGE = 32;
const LOW = 8;

/** cosines[k * EDGE + n] = cos(pi (2 n + 1) k / (2 EDGE)) for k = 1 to LOW: rows of the DCT-II without its constant. */
const COSINES = Float64Array.from({ length: LOW * EDGE }, (_, i) => {
  const k = Math.floor(i / EDGE) + 1;
  return Math.cos((Math.PI * (2 * (i % EDGE) + 1) * k) / (2 * EDGE));
});

/**
 * Perceptual hash of a 32 x 32 grey picture: the signs of 8 x 8 low frequencies of its DCT about their median, 64
 * bits as 16 hexadecimal digits (Zauner 2010, section 3.2.1). Pictures that look alike differ in few bits.
 */
export function perceptualHash(grey: ArrayLike<number>): string {
  if (grey.length !== EDGE * EDGE) throw new RangeError(`perceptualHash: got ${grey.length} of 1024 values`);
  const rows = new Float64Array(EDGE * LOW);
  for (let y = 0; y < EDGE; y++) {
    for (let k = 0; k < LOW; k++) {
      let sum = 0;
      for (let x = 0; x < EDGE; x++) sum += grey[y * EDGE + x]! * COSINES[k * EDGE + x]!;
      rows[k * EDGE + y] = sum;
    }
  }
  const low = new Float64Array(LOW * LOW);
  for (let v = 0; v < LOW; v++) {
    for (let u = 0; u < LOW; u++) {
      let sum = 0;
      for (let y = 0; y < EDGE; y++) sum += rows[u * EDGE + y]! * COSINES[v * EDGE + y]!;
      low[v * LOW + u] = sum;
    }
  }
  const sorted = low.toSorted();
  const median = (sorted[31]! + sorted[32]!) / 2;
  let hash = '';
  for (let i = 0; i < low.length; i += 4) {
    let digit = 0;
    for (let bit = 0; bit < 4; bit++) digit = 2 * digit + (low[i + bit]! > median ? 1 : 0);
    hash += digit.toString(16);
  }
  return hash;
}

const COUNTS = Uint8Array.from({ length: 65536 }, (_, i) => i.toString(2).replaceAll('0', '').length);

/** The two halves of a hash as 32-bit integers. */
export const hashWords = (hash: string): [number, number] => [
  Number.parseInt(hash.slice(0, 8), 16) >>> 0,
  Number.parseInt(hash.slice(8), 16) >>> 0,
];

/** Number of bits in which two hashes differ, 0 to 64. */
export function hashDistance(a: readonly [number, number], b: readonly [number, number]): number {
  const high = (a[0] ^ b[0]) >>> 0;
  const low = (a[1] ^ b[1]) >>> 0;
  return COUNTS[high >>> 16]! + COUNTS[high & 65535]! + COUNTS[low >>> 16]! + COUNTS[low & 65535]!;
}
