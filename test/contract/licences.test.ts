// Checks that every package of the lockfile has an allowed licence and is listed in LICENCES.md.
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { licencesPage, readLockfile, refused } from '../../deploy/supply-chain/src/licences';

const file = (name: string): string => resolve(__dirname, '../..', name);
const packages = readLockfile(readFileSync(file('package-lock.json'), 'utf8'));

test('every package has a known, allowed licence', () => {
  expect(packages.length).toBeGreaterThan(100);
  expect(refused(packages)).toEqual([]);
});

test('deploy/LICENCES.md lists the packages of the lockfile', () => {
  const wanted = licencesPage(packages);
  if (process.env['GOLDEN'] === 'write') writeFileSync(file('deploy/LICENCES.md'), wanted);
  else expect(readFileSync(file('deploy/LICENCES.md'), 'utf8')).toBe(wanted);
});
