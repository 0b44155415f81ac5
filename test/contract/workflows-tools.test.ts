// Every test that needs a tool runs in a workflow that has the tool, and a run that lacks one says
// so.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { load } from '../testkit/yaml';

interface Reporter {
  NEEDS: Record<string, string>;
  skipped(
    results: Array<{ testFilePath: string; numPendingTests: number }>,
    root: string,
  ): string[];
}
const { NEEDS, skipped } = require('../testkit/skipped-tests') as Reporter;

const ROOT = resolve(__dirname, '../..');

test('the reporter knows every test file that skips tests, and what it needs', () => {
  const files = execFileSync(
    'git',
    ['grep', '-lE', String.raw`\b(test|describe)\.skip\b|\bdescribeChart\b`, '--', '*.test.ts'],
    {
      cwd: ROOT,
      encoding: 'utf8',
    },
  );
  const own = 'test/contract/workflows-tools.test.ts';
  expect(Object.keys(NEEDS).sort()).toEqual(
    files
      .trim()
      .split('\n')
      .filter((file) => file !== own)
      .sort(),
  );
  for (const file of Object.keys(NEEDS)) expect(existsSync(join(ROOT, file))).toBe(true);
});

test('lists the files with skipped tests, and nothing if none was skipped', () => {
  const result = (file: string, numPendingTests: number) => ({
    testFilePath: join(ROOT, file),
    numPendingTests,
  });
  const some = [result('test/helm/compose.test.ts', 2), result('test/helm/values.test.ts', 0)];
  expect(skipped(some, ROOT)).toEqual([
    '\nSkipped tests:',
    '     2  test/helm/compose.test.ts: needs Go',
  ]);
  expect(skipped([result('test/helm/values.test.ts', 0)], ROOT)).toEqual([]);
});

/** The steps that provide each tool. */
const PROVIDES: Record<string, RegExp> = {
  go: /actions\/setup-go@/,
  java: /actions\/setup-java@/,
  promtool: /PROMTOOL=/,
};
/** The tools of each command's tests, besides those that every runner has (Python among them). */
const COMMANDS: Record<string, string[]> = {
  'make test-unit': ['promtool'],
  'make test': ['go', 'java', 'promtool'],
  'make test-browser': ['java'],
  'make test-processes': ['java'],
  'make test-long': ['go', 'java'],
  'make helm-check': ['go'],
};

test.each(['ci.yml', 'nightly.yml'])('the jobs of %s have the tools of their tests', (name) => {
  const { jobs } = load(readFileSync(join(ROOT, '.github/workflows', name), 'utf8')) as {
    jobs: Record<string, { steps: Array<{ run?: string; uses?: string }> }>;
  };
  for (const [job, { steps }] of Object.entries(jobs)) {
    for (const tool of steps.flatMap(({ run = '' }) => COMMANDS[run] ?? [])) {
      const found = steps.some(({ run, uses }) => PROVIDES[tool]?.test(`${uses} ${run}`));
      expect([job, tool, found]).toEqual([job, tool, true]);
    }
  }
});
