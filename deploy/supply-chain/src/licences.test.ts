// Whether a licence may be used, and what of the lockfile counts.
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

test('a package is shipped when one of its copies is, and our own are none of them', () => {
  expect(readLockfile(lockfile)).toEqual([
    { name: '@x/c', version: '3.0.0', licence: '', dev: false },
    { name: 'a', version: '1.0.0', licence: 'MIT', dev: false },
    { name: 'b', version: '2.0.0', licence: 'GPL-3.0-only', dev: true },
  ]);
});

test('unknown licences and those that ask for our source are refused, in tools as well', () => {
  expect(refused(readLockfile(lockfile)).map(({ name }) => name)).toEqual(['@x/c', 'b']);
});
