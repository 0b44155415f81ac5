// The changes of deploy/changes become the section of a release, whose version all packages have.
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const ROOT = resolve(__dirname, '../..');
const FOLDER = 'deploy/changes';
const CHANGELOG = '# Changelog\n\n## Unreleased\n\n## 1.0.0 - 2026-01-01\n\nThe first.\n';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'bmg-changes-'));
  mkdirSync(join(root, FOLDER), { recursive: true });
  cpSync(join(ROOT, FOLDER, 'README.md'), join(root, FOLDER, 'README.md'));
  write('CHANGELOG.md', CHANGELOG);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const write = (path: string, text: string): void => writeFileSync(join(root, path), text);
const change = (name: string, text: string): void => write(`${FOLDER}/${name}.md`, text);
const changelog = (): string => readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
const assemble = (args: string[], cwd = root): string =>
  spawnSync(process.execPath, [join(ROOT, FOLDER, 'assemble.mjs'), ...args], {
    cwd,
    encoding: 'utf8',
  }).stderr;

test('packages, chart and clients have the version of the newest release', () => {
  const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
  const [, newest] = /^## (\d+\.\d+\.\d+) - \d{4}-\d{2}-\d{2}$/m.exec(read('CHANGELOG.md')) ?? [];
  const { packages } = JSON.parse(read('package-lock.json')) as {
    packages: Record<string, { version?: string; link?: true }>;
  };
  const ours = Object.keys(packages).filter((path) => !path.includes('node_modules'));
  expect(ours.length).toBeGreaterThan(10);
  for (const path of ours) {
    const manifest = JSON.parse(read(join(path, 'package.json'))) as { version: string };
    expect([path, packages[path]?.version, manifest.version]).toEqual([path, newest, newest]);
  }
  expect(read('helm/Chart.yaml')).toContain(`\nversion: ${newest}\nappVersion: ${newest}\n`);
  expect(read('gateway/clients/python/pyproject.toml')).toContain(`\nversion = "${newest}"\n`);
  expect(read('gateway/clients/java/pom.xml')).toContain(`<version>${newest}</version>`);
});

test('the changes of the repository can be assembled', () => {
  expect(assemble(['--check'], ROOT)).toBe('');
});

test('a release takes all changes by heading, wrapped, with links that work from the root', () => {
  change('b', '# Fixed\n\nThe first fix.\n\nThe second fix,\non two lines.\n');
  change('a', '# Added\n\nA [page](../../gateway/docs/contract.md).\n');
  change('c', `# Fixed\n\n${'word '.repeat(30)}\n`);
  expect(assemble(['1.1.0', '2026-02-01'])).toBe('');
  expect(changelog()).toBe(`# Changelog

## Unreleased

## 1.1.0 - 2026-02-01

### Added

- A [page](gateway/docs/contract.md).

### Fixed

- The first fix.
- The second fix, on two lines.
- ${'word '.repeat(19).trim()}
  ${'word '.repeat(11).trim()}

## 1.0.0 - 2026-01-01

The first.
`);
  expect(readdirSync(join(root, FOLDER))).toEqual(['README.md']);
});

test.each([
  ['a change without a heading', '1.1.0', 'Text only.\n', 'must begin with one of # Added'],
  ['an unknown heading', '1.1.0', '# Improved\n\nText.\n', 'must begin with one of # Added'],
  ['a missing version', '', '# Added\n\nText.\n', 'make changelog VERSION='],
])('a release is refused for %s, and nothing is written', (_name, version, text, reason) => {
  change('a', text);
  expect(assemble([version])).toContain(reason);
  expect(changelog()).toBe(CHANGELOG);
  expect(readdirSync(join(root, FOLDER))).toContain('a.md');
});

test('a release is refused without changes, and for entries that were written by hand', () => {
  expect(assemble(['1.1.0'])).toContain('no changes to release');
  change('a', '# Added\n\nText.\n');
  write('CHANGELOG.md', CHANGELOG.replace('## 1.0.0', '### Added\n\n- By hand.\n\n## 1.0.0'));
  expect(assemble(['1.1.0'])).toContain('move what stands under Unreleased');
});
