// The hook of the repository refuses commit messages that break the rules of CONTRIBUTING.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const ROOT = resolve(__dirname, '../..');
const HOOKS = join(ROOT, '.githooks');
const LONGEST = `Keep ${'é'.repeat(67)}`;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'bmg-commit-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What the hook prints about a message; empty if it accepts it. */
function check(message: string): string {
  const file = join(folder, 'message');
  writeFileSync(file, message);
  const { status, stderr } = spawnSync(join(HOOKS, 'commit-msg'), [file], { encoding: 'utf8' });
  expect(status).toBe(stderr === '' ? 0 : 1);
  return stderr;
}

test.each([
  ['a subject only', 'Bound the wait for a receiver\n'],
  ['a subject of 72 characters', LONGEST],
  ['a body after a blank line', 'Move the map\n\nReason: the README was too long.\n'],
  ['comments of Git', '# a comment\nMove the map\n# another\n\nThe reason.\n'],
  ['a diff below the scissors', `Move the map\n# ${'-'.repeat(24)} >8 ${'-'.repeat(24)}\n- old\n`],
  ['a time in the subject', 'Close the day at 24:00 UTC'],
  ['a verb that looks like another form', 'Embed the sign-up page'],
  ['a merge', "Merge branch 'wip' of a: b"],
  ['a revert', 'Revert "Console: said plainly."'],
  ['a fixup', 'fixup! console: said plainly'],
])('the commit hook accepts %s', (_name, message) => {
  expect(check(message)).toBe('');
});

test.each([
  ['an empty message', '# only a comment\n', 'missing'],
  ['a subject of 73 characters', `${LONGEST}x`, 'more than 72 characters'],
  ['a small first letter', 'bound the wait', 'capital'],
  ['a prefix', 'Console: said plainly', 'without a prefix'],
  ['a full stop', 'Bound the wait.', 'full stop'],
  ['the past tense', 'Added a bound', 'imperative'],
  ['a participle', 'Adding a bound', 'imperative'],
  ['a body without a blank line', 'Bound the wait\nIt had no end.\n', 'blank line'],
])('the commit hook refuses %s', (_name, message, reason) => {
  expect(check(message)).toContain(reason);
});

test('make install turns the commit hook on, and keeps hooks that a developer has set', () => {
  // The settings of the developer who runs the tests are left out.
  const env = { PATH: process.env['PATH'], GIT_CONFIG_GLOBAL: '/dev/null' };
  const run = (command: string, args: string[], cwd = folder): string =>
    execFileSync(command, args, { cwd, env, encoding: 'utf8', stdio: 'pipe' }).trim();
  const make = (): string => run('make', ['-f', join(ROOT, 'Makefile'), 'hooks']);
  const git = (...args: string[]): string => run('git', args);
  make();
  git('init', '--quiet');
  make();
  expect(git('config', 'core.hooksPath')).toBe('.githooks');
  git('config', 'core.hooksPath', 'mine');
  make();
  expect(git('config', 'core.hooksPath')).toBe('mine');
  expect(run('make', ['--dry-run', 'install'], ROOT)).toContain('core.hooksPath .githooks');
});
