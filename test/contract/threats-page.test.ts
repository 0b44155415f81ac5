// The page of threats against the code: every row names a bound, settings that exist, and tests
// that exist.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../..');
const read = (page: string): string => readFileSync(join(ROOT, page), 'utf8');
const settings = new Set(read('deploy/SETTINGS.md').match(/`[A-Z][A-Z0-9_]+`/g));

const rows = read('deploy/THREATS.md')
  .split('\n')
  .filter((line) => /^\| (?!Threat \|)/.test(line))
  .map((line) => line.slice(2, -2).split(' | '));

test.each(rows)('%s: a bound, its setting and its test', (...row) => {
  expect(row).toHaveLength(4);
  const [, bound, setting, tests] = row as [string, string, string, string];
  expect(bound).not.toBe('');
  if (setting !== 'none') {
    const named = setting.match(/`[^`]+`/g) ?? [];
    expect(named).not.toEqual([]);
    // The chart's values are in camel case.
    expect(named.filter((name) => /^`[A-Z_]+`$/.test(name) && !settings.has(name))).toEqual([]);
  }
  const files = [...tests.matchAll(/`([^`]+)`/g)].map(([, file]) => file as string);
  expect(files).not.toEqual([]);
  expect(
    files.filter(
      (file) => !/\.test\.ts$|^test\/golden\//.test(file) || !existsSync(join(ROOT, file)),
    ),
  ).toEqual([]);
});
