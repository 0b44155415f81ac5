// Checks the Markdown pages: links, paths and make targets exist, and lines are at most 100
// columns.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const ROOT = resolve(__dirname, '../..');
const SKIPPED = new Set(['node_modules', 'dist', '.git', '.run', 'coverage']);
const README_LINES_MAX = 90;
const COLUMNS_MAX = 100;
/** Generated paragraphs of these pages are one line each, so that a diff shows only new figures. */
const WIDE_PAGES = new Set(['deploy/CAPACITY.md']);

function pagesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (SKIPPED.has(entry.name)) return [];
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return pagesIn(path);
    return entry.name.endsWith('.md') ? [relative(ROOT, path)] : [];
  });
}

const read = (page: string): string => readFileSync(join(ROOT, page), 'utf8');
const PAGES = pagesIn(ROOT).map((page) => [page]);

const FENCE = /^( *)```(\w*)\n([\s\S]*?)^\1```$/gm;
const withoutFences = (text: string): string => text.replace(FENCE, '');
const spansOf = (text: string): string[] =>
  [...withoutFences(text).matchAll(/`([^`\n]+)`/g)].map(([, span]) => span as string);

/** The anchors that GitHub derives from headings. */
const anchorsOf = (text: string): string[] =>
  [...withoutFences(text).matchAll(/^#+ +(.+)$/gm)].map(([, heading]) =>
    (heading as string)
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replace(/\s/g, '-'),
  );

test.each(PAGES)('the targets of the links in %s exist', (page) => {
  const text = read(page);
  const broken = [...withoutFences(text).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link]) => link as string)
    .filter((link) => !/^[a-z]+:/.test(link))
    .filter((link) => {
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? join(ROOT, page) : resolve(ROOT, dirname(page), path);
      if (!existsSync(target)) return true;
      return anchor !== undefined && !anchorsOf(readFileSync(target, 'utf8')).includes(anchor);
    });
  expect(broken).toEqual([]);
});

const FROM_ROOT = /^(proto|services|gateway|deploy|helm|test|\.github)\/[\w./-]*$/;
const FROM_PAGE = /^src\/[\w./-]+$/;
/** Created by the build. */
const BUILT = /\/dist\//;

test.each(PAGES)('the paths that %s names exist', (page) => {
  const missing = spansOf(read(page)).filter((span) => {
    if (BUILT.test(span)) return false;
    if (FROM_ROOT.test(span)) return !existsSync(join(ROOT, span));
    const folder = resolve(ROOT, dirname(page));
    if (!FROM_PAGE.test(span) || !existsSync(join(folder, 'src'))) return false;
    return !existsSync(join(folder, span));
  });
  expect(missing).toEqual([]);
});

test.each(PAGES)('the make targets that %s names exist', (page) => {
  const targets = new Set(read('Makefile').match(/^[a-z][a-z-]*(?=:)/gm));
  const text = read(page);
  const scripts = [...text.matchAll(FENCE)].filter(([, , language]) => language === 'sh');
  const commands = [...spansOf(text), ...scripts.map(([, , , script]) => script as string)];
  const unknown = commands
    .flatMap((command) => [...command.matchAll(/(?<![\w-])make ([a-z][a-z-]*)/g)])
    .map(([, target]) => target as string)
    .filter((target) => !targets.has(target));
  expect(unknown).toEqual([]);
});

test.each(PAGES.filter(([page = '']) => !WIDE_PAGES.has(page)))(
  'the prose of %s is wrapped at 100 columns',
  (page) => {
    const prose = withoutFences(read(page as string)).replace(/<!--[\s\S]*?-->/g, '');
    const long = prose
      .split('\n')
      .filter((line) => line.length > COLUMNS_MAX)
      .filter((line) => !/^\s*\|/.test(line))
      // A link cannot be broken.
      .filter((line) => !/^\s*(?:[-*] )?\[[^\]]*\](?:\([^)]*\)|: \S+)[.,;]?$/.test(line));
    expect(long).toEqual([]);
  },
);

test('the README is short', () => {
  expect(read('README.md').split('\n').length).toBeLessThanOrEqual(README_LINES_MAX + 1);
});

/** The table of the map that says where each rule is. */
const [, RULES_TABLE = ''] = read('deploy/MAP.md').split('\n## Where is …\n');
const RULES = [...RULES_TABLE.matchAll(/^\| (?!Rule )\S.*$/gm)].map(([row]) => row);

test('each row of the map has one rule, which no other row has, and names where it is', () => {
  const cells = RULES.map((row) => row.slice(2, -2).split(' | '));
  expect(cells.length).toBeGreaterThan(0);
  expect(cells.filter(([rule = '', files]) => rule.includes(';') || !files?.includes('`'))).toEqual(
    [],
  );
  const rules = cells.map(([rule]) => rule);
  expect(rules).toEqual([...new Set(rules)]);
  const missing = RULES.flatMap(spansOf)
    .filter((span) => span.includes('/'))
    .filter((span) => !existsSync(join(ROOT, span)));
  expect(missing).toEqual([]);
});

test.each([
  ['the retry schedule', 'RETRY_DELAYS_MS'],
  ['the rate limit', 'HMGET'],
  ['the rule for quoting a message', 'context_message_id'],
  ['the price change of October', "effective: '2026-10-01'"],
  ['CODE_EXCHANGE_FAILED', 'The sign-up code is invalid'],
  ['a growing backlog', 'ConsumerLagGrows: {'],
])('the map leads to the file of %s', (rule, content) => {
  const row = RULES.find((line) => line.includes(rule));
  const files = [...(row ?? '').matchAll(/`([\w./-]+\.ts)`/g)].map(([, file]) => file as string);
  expect(files.filter((file) => read(file).includes(content))).toHaveLength(1);
});

test.each([
  ['endpoint', 6],
  ['event', 3],
])('CONTRIBUTING adds an %s with the code as it is, in at most %i files', (what, files_max) => {
  const [, section = ''] = read('.github/CONTRIBUTING.md').split(`\n## Adding an ${what}\n`);
  const [, , , diff = ''] = new RegExp(FENCE.source, 'm').exec(section) ?? [];
  const files = diff.split(/^@@ (\S+) @@$/m).slice(1);
  const missing: string[] = [];
  for (let index = 0; index < files.length; index += 2) {
    const lines = new Set(read(files[index] as string).split('\n'));
    for (const line of (files[index + 1] as string).split('\n')) {
      if (line !== '' && !lines.has(line.replace(/^\+/, ''))) missing.push(line);
    }
  }
  expect(missing).toEqual([]);
  expect(files.length).toBeGreaterThan(0);
  expect(files.length / 2).toBeLessThanOrEqual(files_max);
});
