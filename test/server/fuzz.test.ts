import { beforeAll, expect, it, vi } from 'vitest';
import { type FuzzReport, fuzz, fuzzInputs } from '../../scripts/fuzz-server/fuzz.ts';
import { openApp } from '../../scripts/fuzz-server/open-app.ts';
import type { LogEntry } from '../../src/server/index.ts';
import { BASE_MODEL } from './server-fixture.ts';

vi.setConfig({ testTimeout: 300_000, hookTimeout: 120_000 });

const INPUTS = 300;
const log: LogEntry[] = [];
let report: FuzzReport;

beforeAll(async () => {
  const { app, close } = await openApp(BASE_MODEL, (entry) => log.push(entry));
  report = await fuzz(app, { seed: 2, count: INPUTS });
  await close();
}, 300_000);

it('the inputs depend on seed and number alone', async () => {
  const [one, other] = await Promise.all([fuzzInputs(2), fuzzInputs(2)]);
  for (const number of [0, 7, 250]) expect(other(number).body.equals(one(number).body)).toBe(true);
  expect((await fuzzInputs(3))(7).body.equals(one(7).body)).toBe(false);
});

it('mutated pictures, JSON and forms get an answer or an error, never a failure of the server', () => {
  expect(report.inputs).toBe(INPUTS);
  expect(report.failures).toEqual([]);
  expect(log.filter(({ event }) => event === 'defect')).toEqual([]);
});

it('some are answered and some refused, of each kind', () => {
  const kinds = Object.keys(report.counts);
  for (const kind of ['picture 200', 'picture 422', 'json 400', 'form 400']) expect(kinds).toContain(kind);
});
