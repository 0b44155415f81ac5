// The rules of gateway/docs/contract.md are numbered in order, and every number that code, protos
// or pages cite is one of them.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(__dirname, '../..');
const PAGE = 'gateway/docs/contract.md';
const HERE = 'test/contract/contract-page.test.ts';
const SOURCES = ['*.ts', '*.tsx', '*.mts', '*.proto', '*.md', '*.yaml', '*.java'];
/** “contract 4.3”, “contract 1.5, 12.3”, “contract 4.1 to 4.4”. */
const CITATION = /\bcontract (\d+\.\d+(?:(?:, | to | and )\d+\.\d+)*)/gi;
/** The form without a number, which no test could check. */
const UNNUMBERED = /\b(?:contract|Contract|decisions|Decisions), [A-Z]/;

const page = readFileSync(join(ROOT, PAGE), 'utf8');
const rules = [...page.matchAll(/^\*\*(\d+)\.(\d+)\*\* /gm)].map(([, chapter, rule]) => [
  Number(chapter),
  Number(rule),
]);
const numbers = new Set(rules.map((rule) => rule.join('.')));

const files = execFileSync('git', ['ls-files', '--', ...SOURCES], { cwd: ROOT, encoding: 'utf8' })
  .split('\n')
  .filter((file) => file !== '' && file !== PAGE && file !== HERE && file !== 'CHANGELOG.md');

/** Comments break a citation over two lines. */
const textOf = (file: string): string =>
  readFileSync(join(ROOT, file), 'utf8').replaceAll(/\s*\n\s*(?:\/\/|\*|#)?\s*/g, ' ');

const citations = files.flatMap((file) =>
  [...textOf(file).matchAll(CITATION)].flatMap(([, list = '']) =>
    list.split(/, | to | and /).map((number) => ({ file, number })),
  ),
);

test('rules are numbered in order, chapter by chapter', () => {
  const chapters = [...page.matchAll(/^## (\d+)\. /gm)].map(([, chapter]) => Number(chapter));
  expect(chapters).toEqual(chapters.map((_chapter, index) => index + 1));
  for (const chapter of chapters) {
    const own = rules.filter(([of]) => of === chapter).map(([, rule]) => rule);
    expect([chapter, own]).toEqual([chapter, own.map((_rule, index) => index + 1)]);
    expect(own).not.toEqual([]);
  }
});

test('every citation names a rule of the page', () => {
  expect(citations.length).toBeGreaterThan(50);
  expect(citations.filter(({ number }) => !numbers.has(number))).toEqual([]);
});

test('no citation is without a number', () => {
  expect(files.filter((file) => UNNUMBERED.test(textOf(file)))).toEqual([]);
});
