import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { duplicateKey } from '../../src/formats/duplicate-keys.ts';

describe('duplicateKey', () => {
  test.each([
    ['{"a":1,"a":2}', 'a'],
    ['{"a":1,"b":{"c":1,"c":2}}', 'c'],
    ['[{"a":1},{"b":1,"b":1}]', 'b'],
    ['{"a":[{"x":1}],"b":2,"a":3}', 'a'],
    ['{"\\u0061":1,"a":2}', 'a'],
    ['{ "" : 1 , "" : 2 }', ''],
    ['{"a\\"":1,"a\\"":2}', 'a"'],
    ['{"a":"}","a":1}', 'a'],
  ])('%s', (json, key) => {
    expect(duplicateKey(json)).toBe(key);
  });

  test.each([
    '{"a":{"a":{"a":1}}}',
    '[{"a":1},{"a":2}]',
    '{"a":"a","b":"a"}',
    '{"a":["a","a"],"b":"a"}',
    '{"a":"\\"a\\":1,","b":1}',
    '"a"',
    '[]',
    '{}',
    '7',
  ])('%s holds none', (json) => {
    expect(duplicateKey(json)).toBeNull();
  });

  test('what JSON.stringify writes holds none', () => {
    fc.assert(
      fc.property(fc.json(), (json) => {
        expect(duplicateKey(JSON.stringify(JSON.parse(json)))).toBeNull();
      }),
    );
  });
});
