// Every package of the lockfile has a licence that may be used, and LICENCES.md lists it.
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { licencesPage, readLockfile, refused } from '../../deploy/supply-chain/src/licences';

const file = (name: string): string => resolve(__dirname, '../..', name);
const packages = readLockfile(readFileSync(file('package-lock.json'), 'utf8'));

test('no package has a licence that is unknown or may not be used', () => {
  expect(packages.length).toBeGreaterThan(100);
  expect(refused(packages)).toEqual([]);
});

test('deploy/LICENCES.md lists the packages of the lockfile', () => {
  const wanted = licencesPage(packages);
  if (process.env['GOLDEN'] === 'write') writeFileSync(file('deploy/LICENCES.md'), wanted);
  else expect(readFileSync(file('deploy/LICENCES.md'), 'utf8')).toBe(wanted);
});
