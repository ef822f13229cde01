import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Gate } from '../../src/remote/gate.ts';
import { imageDataUrl } from '../../src/remote/index.ts';
import { backOff, retryAfterOf } from '../../src/remote/retry-delay.ts';
import { SlidingWindow } from '../../src/remote/sliding-window.ts';

describe('SlidingWindow', () => {
  it('lets the limit through at once and the next one when the first is a minute old', () => {
    const window = new SlidingWindow(3);
    for (const at of [0, 10, 20]) {
      expect(window.waitFor(1, at)).toBe(0);
      window.take(1, at);
    }
    expect(window.waitFor(1, 30)).toBe(59_970);
    expect(window.waitFor(1, 59_999)).toBe(1);
    expect(window.waitFor(1, 60_000)).toBe(0);
  });

  it('waits until enough of the amounts have left', () => {
    const window = new SlidingWindow(100);
    window.take(30, 0);
    window.take(30, 1000);
    window.take(30, 2000);
    expect(window.waitFor(10, 3000)).toBe(0);
    expect(window.waitFor(40, 3000)).toBe(57_000);
    expect(window.waitFor(50, 3000)).toBe(58_000);
  });

  it('takes the true amount in place of the estimate', () => {
    const window = new SlidingWindow(100);
    const correct = window.take(100, 0);
    expect(window.waitFor(60, 1)).toBe(59_999);
    correct(40);
    expect(window.waitFor(60, 1)).toBe(0);
    expect(window.waitFor(61, 1)).toBe(59_999);
  });

  it('ignores a correction that comes after its minute', () => {
    const window = new SlidingWindow(100);
    const correct = window.take(10, 0);
    expect(window.waitFor(100, 60_000)).toBe(0);
    correct(90);
    expect(window.waitFor(100, 60_001)).toBe(0);
  });

  it('lets one that is larger than the limit into an empty window only', () => {
    const window = new SlidingWindow(100);
    expect(window.waitFor(500, 0)).toBe(0);
    window.take(1, 0);
    expect(window.waitFor(500, 1)).toBe(59_999);
  });
});

describe('Gate', () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  it('starts no more than the requests of a minute in any minute', async () => {
    const gate = new Gate({ concurrency: 100, requestsPerMinute: 10 });
    const started: number[] = [];
    const start = performance.now();
    for (let i = 0; i < 25; i++) {
      void gate.enter(1, { verdict: () => 'yes', begin: () => undefined }, false).then((pass) => {
        started.push(performance.now() - start);
        pass.leave();
      });
    }
    await vi.advanceTimersByTimeAsync(200_000);
    expect(started).toHaveLength(25);
    expect(started.slice(0, 10).every((at) => at < 1)).toBe(true);
    for (let i = 10; i < 25; i++) {
      expect((started[i] as number) - (started[i - 10] as number)).toBeGreaterThanOrEqual(60_000);
    }
    expect(started[24]).toBeLessThan(120_100);
  });

  it('halves the requests in flight once per overload, and raises them by one per round that goes well', async () => {
    const gate = new Gate({ concurrency: 8 });
    const admission = { verdict: () => 'yes' as const, begin: () => undefined };
    const round = (size: number) =>
      Promise.all(Array.from({ length: size }, () => gate.enter(1, admission, false)));
    const seen: number[] = [];
    const overloaded = await round(8);
    vi.advanceTimersByTime(10);
    for (const pass of overloaded) {
      pass.slowDown(0);
      pass.leave();
    }
    seen.push(gate.concurrency);
    vi.advanceTimersByTime(10);
    const again = await round(4);
    vi.advanceTimersByTime(10);
    for (const pass of again) {
      pass.slowDown(0);
      pass.leave();
    }
    seen.push(gate.concurrency);
    for (const size of [2, 2]) {
      for (const pass of await round(size)) {
        pass.speedUp();
        pass.leave();
      }
      seen.push(gate.concurrency);
    }
    // 8 / 2, 4 / 2; then 2 + 1 / 2 + 1 / 2.5 = 2.9, and 2.9 + 1 / 2.9 + 1 / 3.24 = 3.55.
    expect(seen).toEqual([4, 2, 2, 3]);
  });

  it('lets a second try in before those that have not been sent', async () => {
    const gate = new Gate({ concurrency: 1 });
    const admission = { verdict: () => 'yes' as const, begin: () => undefined };
    const order: string[] = [];
    const first = await gate.enter(1, admission, false);
    const enter = async (name: string, again: boolean) => {
      const pass = await gate.enter(1, admission, again);
      order.push(name);
      pass.leave();
    };
    const all = [enter('new', false), enter('second try', true)];
    first.leave();
    await Promise.all(all);
    expect(order).toEqual(['second try', 'new']);
  });
});

describe('retryAfterOf', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  it.each([
    ['seconds', { 'retry-after': '2' }, 2000],
    ['a part of a second', { 'retry-after': '0.5' }, 500],
    ['milliseconds, which win', { 'retry-after': '2', 'retry-after-ms': '150' }, 150],
    ['a date', { 'retry-after': 'Thu, 01 Jan 2026 00:00:30 GMT' }, 30_000],
    ['a date that is past', { 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' }, 0],
    ['words', { 'retry-after': 'soon' }, undefined],
    ['nothing', {}, undefined],
  ])('%s', (_what, headers, expected) => {
    expect(retryAfterOf(new Headers(headers as Record<string, string>), now)).toBe(expected);
  });
});

it('backOff doubles, ends at a minute and is never less than half', () => {
  expect([0, 1, 2, 10].map((retry) => backOff(retry, 500, () => 1))).toEqual([500, 1000, 2000, 60_000]);
  expect(backOff(2, 500, () => 0)).toBe(1000);
});

describe('imageDataUrl', () => {
  it('is the base64 of RFC 4648 behind the type, of a view as well', () => {
    const bytes = new TextEncoder().encode('xfoobar').subarray(1);
    expect(imageDataUrl(bytes, 'image/JPEG')).toBe('data:image/jpeg;base64,Zm9vYmFy');
  });

  it.each([
    ['no type', Buffer.from([1]), ''],
    ['another type', Buffer.from([1]), 'text/html'],
    ['a type with more in it', Buffer.from([1]), 'image/png;x,y'],
    ['no bytes', Buffer.alloc(0), 'image/png'],
  ])('%s is an InputError', (_what, bytes, mime) => {
    expect(() => imageDataUrl(bytes, mime)).toThrow(expect.objectContaining({ code: 'INPUT' }));
  });
});
