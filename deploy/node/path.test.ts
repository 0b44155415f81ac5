// The project's own Node on a machine whose Node is too old. A made package stands in for the
// registry's.
import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { engines } from '../../package.json';
import packages from './packages.json';

const ROOT = resolve(__dirname, '../..');
const run = promisify(execFile);

let folder: string;
let project: string;
let integrity: string;

/**
 * A project, a package whose Node is a script, and an npm that "downloads" it and counts its
 * calls.
 */
beforeEach(async () => {
  folder = fs.mkdtempSync(join(tmpdir(), 'bmg-node-'));
  project = join(folder, 'project');
  const made = join(folder, 'package/bin');
  for (const path of [project, made, join(folder, 'bin')]) fs.mkdirSync(path, { recursive: true });
  fs.writeFileSync(join(folder, 'package/LICENSE'), 'free');
  fs.writeFileSync(join(made, 'node'), '#!/bin/sh\necho v24.1.0\n', { mode: 0o755 });
  const tarball = join(folder, 'made.tgz');
  await run('tar', ['-czf', tarball, '-C', folder, 'package']);
  integrity = `sha512-${createHash('sha512').update(fs.readFileSync(tarball)).digest('base64')}`;
  writeNpm(...copyAs('24.1.0'));
});
afterEach(() => fs.rmSync(folder, { recursive: true, force: true }));

function writeNpm(...lines: string[]): void {
  const script = ['#!/bin/sh', `echo called >>${folder}/calls`, ...lines].join('\n');
  fs.writeFileSync(join(folder, 'bin/npm'), script, { mode: 0o755 });
}

const copyAs = (version: string): string[] => [
  'for last; do :; done',
  `cp ${folder}/made.tgz "$last/node-made-${version}.tgz"`,
];

const calls = (): number => fs.readFileSync(join(folder, 'calls'), 'utf8').split('\n').length - 1;
const left = (): string[] => fs.readdirSync(join(project, '.node'));

/** Calls `findNode` in a process of its own, as `make` does. */
async function find(options: object = {}): Promise<{ found: string; said: string }> {
  const wanted = {
    root: project,
    running: '20.20.2',
    platform: 'made',
    packages: { made: { name: 'node-made', version: '24.1.0', integrity } },
    ...options,
  };
  const script = `console.log(require('./path.js').findNode(${JSON.stringify(wanted)}))`;
  const PATH = `${join(folder, 'bin')}${delimiter}${process.env['PATH']}`;
  const { stdout, stderr } = await run(process.execPath, ['-e', script], {
    cwd: __dirname,
    env: { PATH },
  });
  return { found: stdout.trim(), said: stderr.trim() };
}

const installed = (): string => join(project, '.node/node-made-24.1.0/bin');

test('installs the package once, says so in one line, and needs no registry afterwards', async () => {
  expect(await find()).toEqual({
    found: installed(),
    said: 'Node 20.20.2 is older than 22.19: installed Node 24.1.0 into .node/',
  });
  expect(await find()).toEqual({ found: installed(), said: '' });
  expect(calls()).toBe(1);
  expect(left()).toEqual(['node-made-24.1.0']);
});

test.each(['22.19.0', '22.20.1', '24.0.0'])('uses Node %s: it is new enough', async (running) => {
  expect(await find({ running })).toEqual({ found: 'undefined', said: '' });
  expect(fs.existsSync(join(project, '.node'))).toBe(false);
});

test('does not use a minor version below the floor', async () => {
  expect(await find({ running: '22.18.3' })).toMatchObject({ found: installed() });
});

test('installs one Node for two calls at the same time', async () => {
  const both = await Promise.all([find(), find()]);
  expect(both.map(({ found }) => found)).toEqual([installed(), installed()]);
  expect(left()).toEqual(['node-made-24.1.0']);
});

test.each<[string, { integrity?: string; version?: string; npm?: string[] }, RegExp]>([
  [
    'whose hash differs',
    { integrity: 'sha512-other' },
    /node-made@24.1.0 has the hash sha512-.*has sha512-other/,
  ],
  [
    'that npm could not download',
    { npm: ['echo "the registry is unreachable" >&2', 'exit 1'] },
    /npm could not download node-made@24.1.0: the registry is unreachable/,
  ],
  ['of another version', { version: '24.1.1' }, /node-made@24.1.1 is Node v24.1.0/],
])('refuses a package %s, and keeps nothing of it', async (_which, changed, reason) => {
  const { version = '24.1.0', npm = copyAs(version) } = changed;
  writeNpm(...npm);
  const made = { name: 'node-made', version, integrity: changed.integrity ?? integrity };
  await expect(find({ packages: { made } })).rejects.toThrow(reason);
  expect(left()).toEqual([]);
});

test('says that a platform has no package', async () => {
  await expect(find({ platform: 'plan9-mips' })).rejects.toThrow(
    'no package with a newer Node for plan9-mips: install Node 22.19 or newer',
  );
});

test('removes what a killed download left behind, but not a download that runs', async () => {
  for (const [name, minutes] of [
    ['download-old', 60],
    ['download-new', 1],
  ] as const) {
    const path = join(project, '.node', name);
    fs.mkdirSync(join(path, 'package'), { recursive: true });
    const then = Date.now() / 1_000 - minutes * 60;
    fs.utimesSync(path, then, then);
  }
  await find();
  expect(left()).toEqual(['download-new', 'node-made-24.1.0']);
});

test('the floor is that of the manifest, and each package is at an exact version of Node 24', () => {
  expect(engines.node).toBe('>=22.19');
  for (const { version, integrity: hash } of Object.values(packages)) {
    expect(version).toMatch(/^24\.\d+\.\d+$/);
    expect(hash).toMatch(/^sha512-[\w+/]{86}==$/);
  }
});

test('a program that is started again ends as its child ends', async () => {
  const script = `
    const path = require(${JSON.stringify(join(ROOT, 'deploy/node/path.js'))});
    process.argv = [process.execPath, '-e', 'process.exit(3)'];
    process.execArgv = [];
    path.runAgain(${JSON.stringify(dirname(process.execPath))});`;
  const child = spawn(process.execPath, ['-e', script]);
  expect(await once(child, 'exit')).toEqual([3, null]);
});
