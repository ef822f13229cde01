import { maskedCrc32c } from './crc32c.ts';

/** One record of a TFRecord file: length (8 bytes), its CRC, the data, their CRC; little-endian, CRCs masked. */
export function tfRecord(data: Uint8Array): Buffer {
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(data.length));
  return Buffer.concat([length, uint32(maskedCrc32c(length)), data, uint32(maskedCrc32c(data))]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
