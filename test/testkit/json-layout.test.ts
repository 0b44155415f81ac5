import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { layOutJson } from './json-layout';

const EVENTS = join(__dirname, '../golden/events');
const LONG = 'x'.repeat(60);

test.each([
  [
    'a value that fits',
    { a: 1, b: ['x', null], c: {}, d: [] },
    '{ "a": 1, "b": ["x", null], "c": {}, "d": [] }',
  ],
  [
    'a long one, filled',
    { a: 1, b: 2, c: LONG, d: LONG },
    `{\n  "a": 1, "b": 2, "c": "${LONG}",\n  "d": "${LONG}"\n}`,
  ],
  ['a list of one item', [{ a: LONG, b: LONG }], `[{\n  "a": "${LONG}",\n  "b": "${LONG}"\n}]`],
  ['a missing value', { a: undefined, b: 1 }, '{ "b": 1 }'],
])('lays out %s', (_what, value, text) => {
  expect(layOutJson(value)).toBe(`${text}\n`);
});

test('keeps every value of the golden files, in lines of 100 columns unless one value is longer', () => {
  for (const file of readdirSync(EVENTS)) {
    const value = JSON.parse(readFileSync(join(EVENTS, file), 'utf8')) as unknown;
    const text = layOutJson(value);
    expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
    const long = text.split('\n').filter((line) => line.length > 100);
    expect(long.filter((line) => !/^ *"[^"]*": "(?:[^"\\]|\\.)*",?$/.test(line))).toEqual([]);
  }
});
