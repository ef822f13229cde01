/**
 * Fields of a Protocol Buffers message on the wire. Only what event files need: their messages are small and fixed,
 * and are written in the order of the field numbers.
 */

const VARINT = 0;
const FIXED64 = 1;
const LENGTH_DELIMITED = 2;
const FIXED32 = 5;

/** An unsigned integer, least significant 7 bits first. */
function varint(value: number): Buffer {
  if (!Number.isSafeInteger(value) || value < 0) {
    throw new RangeError(`varint: got ${value}, allowed is a whole number from 0 to 2^53 - 1`);
  }
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  bytes.push(rest);
  return Buffer.from(bytes);
}

const tag = (field: number, wireType: number): Buffer => varint(field * 8 + wireType);

/** Without presence, as int64 and enum fields of proto3 are: 0 is not written. */
export const integerField = (field: number, value: number): Buffer =>
  value === 0 ? Buffer.alloc(0) : Buffer.concat([tag(field, VARINT), varint(value)]);

export function doubleField(field: number, value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return Buffer.concat([tag(field, FIXED64), bytes]);
}

/** Of a oneof: 0 is written too. */
export function floatField(field: number, value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return Buffer.concat([tag(field, FIXED32), bytes]);
}

/** Bytes, a string as UTF-8, or a message made of its fields. */
export function lengthDelimitedField(field: number, content: string | readonly Uint8Array[]): Buffer {
  const bytes = typeof content === 'string' ? Buffer.from(content) : Buffer.concat(content);
  return Buffer.concat([tag(field, LENGTH_DELIMITED), varint(bytes.length), bytes]);
}
