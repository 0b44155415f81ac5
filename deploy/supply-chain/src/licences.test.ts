// Which licences are allowed, and which entries of the lockfile are packages.
import { isAllowed, readLockfile, refused } from './licences';

test.each([
  ['MIT', false, true],
  ['(MIT OR GPL-3.0-only)', false, true],
  ['MIT AND GPL-3.0-only', false, false],
  ['AGPL-3.0-only', true, false],
  ['MPL-2.0', true, true],
  ['MPL-2.0', false, false],
  ['', true, false],
  ['SEE LICENSE IN LICENSE', false, false],
])('%s, a tool: %s, may be used: %s', (licence, dev, allowed) => {
  expect(isAllowed(licence, dev)).toBe(allowed);
});

const lockfile = JSON.stringify({
  packages: {
    '': { version: '1.0.0' },
    gateway: { version: '1.0.0' },
    'node_modules/@bmg/gateway': { link: true },
    'node_modules/a': { version: '1.0.0', license: 'MIT' },
    'node_modules/b': { version: '2.0.0', license: 'GPL-3.0-only', dev: true },
    'node_modules/a/node_modules/@x/c': { version: '3.0.0', dev: true },
    'node_modules/@x/c': { version: '3.0.0' },
  },
});

test('counts a package as shipped if one copy is, and skips our own workspaces', () => {
  expect(readLockfile(lockfile)).toEqual([
    { name: '@x/c', version: '3.0.0', licence: '', dev: false },
    { name: 'a', version: '1.0.0', licence: 'MIT', dev: false },
    { name: 'b', version: '2.0.0', licence: 'GPL-3.0-only', dev: true },
  ]);
});

test('refuses unknown and copyleft licences, for development tools too', () => {
  expect(refused(readLockfile(lockfile)).map(({ name }) => name)).toEqual(['@x/c', 'b']);
});
