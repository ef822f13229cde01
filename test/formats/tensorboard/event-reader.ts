/** A reader of event files that shares nothing with the writer: from the description of TFRecord and of Protocol Buffers. */

/** CRC-32C bit by bit, most significant bit first, on mirrored bytes: no table and no mirrored polynomial. */
function slowCrc32c(bytes: Uint8Array): number {
  const mirrored = (value: number, bits: number): number => {
    let result = 0;
    for (let i = 0; i < bits; i++) if ((value >>> i) & 1) result |= 1 << (bits - 1 - i);
    return result >>> 0;
  };
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc = (crc ^ (mirrored(byte, 8) << 24)) >>> 0;
    for (let bit = 0; bit < 8; bit++)
      crc = crc & 0x80000000 ? ((crc << 1) ^ 0x1edc6f41) >>> 0 : (crc << 1) >>> 0;
  }
  return mirrored(~crc >>> 0, 32);
}

function unmask(masked: number): number {
  const rotated = (masked - 0xa282ead8) >>> 0;
  return ((rotated << 15) | (rotated >>> 17)) >>> 0;
}

/** The records of a file whose two CRCs agree; reading stops at one that is torn or wrong. */
function records(file: Buffer): Buffer[] {
  const found: Buffer[] = [];
  for (let at = 0; at + 12 <= file.length; ) {
    const length = Number(file.readBigUInt64LE(at));
    if (unmask(file.readUInt32LE(at + 8)) !== slowCrc32c(file.subarray(at, at + 8))) break;
    const data = file.subarray(at + 12, at + 12 + length);
    if (at + 16 + length > file.length) break;
    if (unmask(file.readUInt32LE(at + 12 + length)) !== slowCrc32c(data)) break;
    found.push(data);
    at += 16 + length;
  }
  return found;
}

type Field = { field: number; value: bigint | Buffer };

function fields(message: Buffer): Field[] {
  const found: Field[] = [];
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message[at++]!;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const take = (length: number): Buffer => {
    at += length;
    return message.subarray(at - length, at);
  };
  while (at < message.length) {
    const key = Number(varint());
    const type = key & 7;
    const value =
      type === 0 ? varint() : type === 1 ? take(8) : type === 2 ? take(Number(varint())) : take(4);
    found.push({ field: key >>> 3, value });
  }
  return found;
}

const all = (message: Buffer, field: number): Buffer[] =>
  fields(message).flatMap((one) => (one.field === field && Buffer.isBuffer(one.value) ? [one.value] : []));

export interface ReadEvent {
  wallTime: number;
  step: number;
  version?: string;
  /** Status of the session log. */
  session?: number;
  scalars: Record<string, number>;
  texts: Record<string, string>;
}

export function readEvents(file: Buffer): ReadEvent[] {
  return records(file).map((message) => {
    const [version] = all(message, 3);
    const [session] = all(message, 7);
    const event: ReadEvent = {
      wallTime: all(message, 1)[0]!.readDoubleLE(0),
      step: Number(fields(message).find(({ field }) => field === 2)?.value ?? 0n),
      ...(version === undefined ? {} : { version: version.toString() }),
      ...(session === undefined ? {} : { session: Number(fields(session)[0]!.value) }),
      scalars: {},
      texts: {},
    };
    for (const value of all(message, 5).flatMap((summary) => all(summary, 1))) {
      const name = all(value, 1)[0]!.toString();
      const [number] = all(value, 2);
      if (number !== undefined) event.scalars[name] = number.readFloatLE(0);
      for (const tensor of all(value, 8)) event.texts[name] = all(tensor, 8)[0]!.toString();
    }
    return event;
  });
}

/** Steps and values of a series as TensorBoard shows them: a session's start drops what was read of later steps. */
export function readSeries(files: readonly Buffer[], name: string): [step: number, value: number][] {
  let kept: [number, number][] = [];
  for (const event of files.flatMap(readEvents)) {
    if (event.session === 1) kept = kept.filter(([step]) => step < event.step);
    if (event.scalars[name] !== undefined) kept.push([event.step, event.scalars[name]]);
  }
  return kept;
}
