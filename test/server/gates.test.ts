import { describe, expect, it } from 'vitest';
import { Admission } from '../../src/server/batching/admission.ts';
import { Lanes } from '../../src/server/batching/lanes.ts';
import { ApiError } from '../../src/server/http/api-error.ts';
import { TokenCheck } from '../../src/server/http/auth.ts';
import { ByteBudget } from '../../src/server/http/byte-budget.ts';
import { RateLimit } from '../../src/server/http/rate-limit.ts';

function refusal(action: () => unknown): ApiError {
  try {
    action();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error('it was let in');
}

describe('admission', () => {
  it('lets in as many pictures as the queue has places, and again when places are given back', () => {
    const admission = new Admission({ queue: 4, requestTimeoutMs: 1000 });
    const leave = admission.enter(3);
    const refused = refusal(() => admission.enter(2));
    expect([refused.code, refused.status, refused.retryAfter]).toEqual(['OVERLOADED', 429, 1]);
    admission.enter(1);
    expect(admission.admitted).toBe(4);
    leave({ done: false });
    leave({ done: false });
    expect(admission.admitted).toBe(1);
  });

  it('refuses what could not be answered in time, by what pictures have cost', () => {
    let now = 0;
    const admission = new Admission({ queue: 100, requestTimeoutMs: 1000 }, () => now);
    const leave = admission.enter(1);
    now = 100;
    leave({ done: true });
    // At 100 ms each, 7 pictures take 700 ms and 8 take 800, which is 80 % of the time allowed.
    admission.enter(7);
    expect(refusal(() => admission.enter(1)).code).toBe('OVERLOADED');
  });

  it('does not take one long pause for slowness', () => {
    let now = 0;
    const admission = new Admission({ queue: 100, requestTimeoutMs: 1000 }, () => now);
    for (const step of [100, 60_000]) {
      const leave = admission.enter(1);
      now += step;
      leave({ done: true });
    }
    // 100 ms by nine parts and four times that by one: 130 ms, so 6 pictures (780 ms) still fit.
    admission.enter(5);
    admission.enter(1);
    expect(refusal(() => admission.enter(1)).code).toBe('OVERLOADED');
  });
});

describe('the rate limit', () => {
  it('allows a minute’s requests at once, then one for each share of a minute', () => {
    let now = 0;
    const limit = new RateLimit(6, () => now);
    for (let i = 0; i < 6; i++) limit.take('x');
    expect(refusal(() => limit.take('x')).retryAfter).toBe(10);
    limit.take('y');
    now = 9_999;
    expect(refusal(() => limit.take('x')).retryAfter).toBe(1);
    now = 10_001;
    limit.take('x');
    expect(refusal(() => limit.take('x')).code).toBe('RATE_LIMITED');
  });
});

describe('tokens', () => {
  const check = new TokenCheck(['first-token-of-all', 'second-token-here']);

  it('name the client by the place of its token', () => {
    expect(check.client('Bearer first-token-of-all', 'a')).toBe('token 0');
    expect(check.client('bearer second-token-here', 'a')).toBe('token 1');
  });

  it.each([
    undefined,
    '',
    'Bearer',
    'Bearer ',
    'Basic first-token-of-all',
    'Bearer first-token-of-al',
    'Bearer first-token-of-all x',
    'first-token-of-all',
  ])('refuse %j', (header) => {
    expect(refusal(() => check.client(header, 'a')).status).toBe(401);
  });

  it('are not asked for where there are none', () => {
    expect(new TokenCheck([]).client(undefined, '192.0.2.1')).toBe('address 192.0.2.1');
  });
});

it('the byte budget counts what is held', () => {
  const budget = new ByteBudget(10);
  budget.take(6);
  expect(refusal(() => budget.take(5)).code).toBe('OVERLOADED');
  budget.release(6);
  budget.take(10);
  expect(budget.held).toBe(10);
});

describe('lanes', () => {
  it('run as much at once as they may, in order, and without those who leave', async () => {
    const lanes = new Lanes(1);
    const started: string[] = [];
    let finish: () => void = () => undefined;
    const never = new AbortController();
    const leaving = new AbortController();
    const first = lanes.run(never.signal, () => {
      started.push('first');
      return new Promise<void>((resolve) => {
        finish = resolve;
      });
    });
    const second = lanes.run(leaving.signal, async () => void started.push('second'));
    const third = lanes.run(never.signal, async () => void started.push('third'));
    leaving.abort(new Error('left'));
    await expect(second).rejects.toThrow('left');
    finish();
    await Promise.all([first, third]);
    expect(started).toEqual(['first', 'third']);
  });
});
