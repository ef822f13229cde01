import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { crc32c, maskedCrc32c } from '../../../src/formats/tensorboard/crc32c.ts';
import {
  fileVersionEvent,
  scalarsEvent,
  sessionStartEvent,
  textEvent,
} from '../../../src/formats/tensorboard/event.ts';
import { tfRecord } from '../../../src/formats/tensorboard/tf-record.ts';

describe('crc32c', () => {
  const count = Array.from({ length: 32 }, (_, i) => i);
  // RFC 3720, appendix B.4, whose bytes are given least significant first; the last is the usual check value.
  it.each([
    ['32 zeros', new Array(32).fill(0), 0x8a9136aa],
    ['32 ones', new Array(32).fill(0xff), 0x62a8ab43],
    ['32 rising bytes', count, 0x46dd794e],
    ['32 falling bytes', [...count].reverse(), 0x113fdb5c],
    ['"123456789"', [...Buffer.from('123456789')], 0xe3069283],
    ['nothing', [], 0],
  ])('of %s', (_, bytes, expected) => {
    expect(crc32c(Uint8Array.from(bytes))).toBe(expected);
  });

  it('is masked by a rotation of 15 bits and a constant', () => {
    // 0x8a9136aa rotated right by 15 is 0x6d551522; plus 0xa282ead8 it is 0x10fd7fffa, cut to 32 bits.
    expect(maskedCrc32c(new Uint8Array(32))).toBe(0x0fd7fffa);
  });
});

describe('records', () => {
  interface Recorded {
    kind: 'version' | 'start' | 'scalars' | 'text';
    step: number;
    wallTime: number;
    values?: Record<string, number | string>;
    name?: string;
    text?: string;
    record: string;
  }
  // Written by scripts/reference/record-tensorboard.py with TensorBoard's own writer.
  const { events } = JSON.parse(
    readFileSync(new URL('../fixtures/tensorboard.json', import.meta.url), 'utf8'),
  ) as { events: Recorded[] };
  const numberOf = (value: number | string): number =>
    Number(String(value).replace('inf', 'Infinity').replace('nan', 'NaN'));
  const made = ({ kind, step, wallTime, values = {}, name = '', text = '' }: Recorded): Buffer => {
    if (kind === 'version') return fileVersionEvent(wallTime);
    if (kind === 'start') return sessionStartEvent({ wallTime, step });
    if (kind === 'text') return textEvent({ wallTime, step }, name, text);
    const numbers = Object.entries(values).map(([key, value]) => [key, numberOf(value)]);
    return scalarsEvent({ wallTime, step }, Object.fromEntries(numbers));
  };

  it.each(events.map((event, i) => [i, event.kind, event] as const))(
    'are byte for byte those of TensorBoard: %d, %s',
    (_i, _kind, event) => {
      expect(tfRecord(made(event)).toString('base64')).toBe(event.record);
    },
  );

  it.each([-1, 1.5, 2 ** 53])('refuse step %d', (step) => {
    expect(() => scalarsEvent({ wallTime: 1, step }, { loss: 1 })).toThrow(RangeError);
  });
});
