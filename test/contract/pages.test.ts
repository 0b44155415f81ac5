// The pages of the repository point at things that exist: links, paths in code spans, make targets.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const ROOT = resolve(__dirname, '../..');
const SKIPPED = new Set(['node_modules', 'dist', '.git', '.run', 'coverage']);
const README_LINES_MAX = 150;

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

/** Anchors as GitHub makes them of headings. */
const anchorsOf = (text: string): string[] =>
  [...withoutFences(text).matchAll(/^#+ +(.+)$/gm)].map(([, heading]) =>
    (heading as string)
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replace(/\s/g, '-'),
  );

test.each(PAGES)('the links of %s lead somewhere', (page) => {
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
/** Made by a build. */
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

test('the README is short', () => {
  expect(read('README.md').split('\n').length).toBeLessThanOrEqual(README_LINES_MAX + 1);
});

test('the worked example of CONTRIBUTING shows the code as it is, in at most six files', () => {
  const diff = [...read('.github/CONTRIBUTING.md').matchAll(FENCE)].find(
    ([, , language]) => language === 'diff',
  )?.[3];
  const files = (diff ?? '').split(/^@@ (\S+) @@$/m).slice(1);
  const missing: string[] = [];
  for (let index = 0; index < files.length; index += 2) {
    const lines = new Set(read(files[index] as string).split('\n'));
    for (const line of (files[index + 1] as string).split('\n')) {
      if (line !== '' && !lines.has(line.replace(/^\+/, ''))) missing.push(line);
    }
  }
  expect(missing).toEqual([]);
  expect(files.length / 2).toBeLessThanOrEqual(6);
});
