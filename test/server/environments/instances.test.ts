import { describe, expect, it } from 'vitest';
import { InstanceTable } from '../../../src/server/environments/instances.ts';
import { echoFamily } from '../../env/text/agentgym/echo-family.ts';

function tableWithClock(most = 10) {
  const clock = { now: 0 };
  const family = echoFamily();
  return { clock, family, table: new InstanceTable({ family, most, idleMs: 1000, now: () => clock.now }) };
}

describe('an instance that nobody asks anything of', () => {
  it('is closed after the time allowed, counted from its last request', async () => {
    const { clock, family, table } = tableWithClock();
    const { id: used } = table.create();
    const { id: idle } = table.create();
    clock.now = 900;
    await table.use(used, (instance) => instance.reset(0));
    clock.now = 1000;
    expect(await table.expire()).toBe(0);
    clock.now = 1001;
    expect(await table.expire()).toBe(1);
    await expect(table.use(idle, (instance) => instance.reset(0))).rejects.toMatchObject({
      code: 'UNKNOWN_ID',
    });
    expect([table.size, family.alive.size]).toEqual([1, 1]);
    clock.now = 1901;
    expect(await table.expire()).toBe(1);
    expect([table.size, family.alive.size]).toEqual([0, 0]);
  });

  it('is not closed while a request is under way, however long that takes', async () => {
    const { clock, table } = tableWithClock();
    const { id } = table.create();
    let finish = (): void => undefined;
    const slow = table.use(id, () => new Promise<void>((resolve) => (finish = resolve)));
    await Promise.resolve();
    clock.now = 5000;
    expect(await table.expire()).toBe(0);
    finish();
    await slow;
    expect(table.size).toBe(1);
  });
});

describe('closing', () => {
  it('comes after the requests before it, and before those after it', async () => {
    const { table } = tableWithClock();
    const { id } = table.create();
    const before = table.use(id, (instance) => instance.reset(3));
    const closed = table.close(id);
    expect((await before).text).toBe('task 3 seed none heard nothing');
    expect(await closed).toBe(true);
    await expect(table.use(id, (instance) => instance.step('a'))).rejects.toMatchObject({
      code: 'UNKNOWN_ID',
    });
    expect(await table.close(id)).toBe(false);
  });

  it('twice at once closes once', async () => {
    const { table, family } = tableWithClock();
    const { id } = table.create();
    expect(await Promise.all([table.close(id), table.close(id)])).toEqual([true, false]);
    expect(family.alive.size).toBe(0);
  });
});

describe('two requests', () => {
  it('for one instance wait for each other, for two they do not', async () => {
    const { table } = tableWithClock();
    const [one, other] = [table.create().id, table.create().id];
    const order: string[] = [];
    let finish = (): void => undefined;
    const slow = table.use(one, async () => {
      order.push('slow begins');
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      order.push('slow ends');
    });
    const behind = table.use(one, async () => order.push('behind'));
    await table.use(other, async () => order.push('beside'));
    finish();
    await Promise.all([slow, behind]);
    expect(order).toEqual(['slow begins', 'beside', 'slow ends', 'behind']);
  });
});

describe('a failed request', () => {
  it('does not hold up the next one', async () => {
    const { table } = tableWithClock();
    const { id } = table.create();
    const failed = table.use(id, (instance) => instance.step('a'));
    const next = table.use(id, (instance) => instance.reset(1));
    await expect(failed).rejects.toMatchObject({ code: 'NOT_BEGUN' });
    expect((await next).text).toBe('task 1 seed none heard nothing');
  });
});

describe('ids', () => {
  it('of two servers do not meet', () => {
    const first = tableWithClock().table;
    const second = tableWithClock().table;
    const ids = [first, second].flatMap((table) => Array.from({ length: 10 }, () => table.create().id));
    expect(new Set(ids).size).toBe(20);
    for (const id of ids) expect(Number.isSafeInteger(id)).toBe(true);
  });
});
