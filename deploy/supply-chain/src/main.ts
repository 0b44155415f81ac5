// make licences: writes deploy/LICENCES.md out of the lockfile, and fails where a licence may not be used.
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { licenceOf, licencesPage, readLockfile, refused } from './licences';

const ROOT = resolve(__dirname, '../../..');
const packages = readLockfile(readFileSync(resolve(ROOT, 'package-lock.json'), 'utf8'));
writeFileSync(resolve(ROOT, 'deploy/LICENCES.md'), licencesPage(packages));
const bad = refused(packages);
for (const one of bad) {
  console.error(
    `${one.name} ${one.version}: ${licenceOf(one) || 'no licence given'}${one.dev ? ' (a tool)' : ''}`,
  );
}
console.log(
  `${packages.length} packages, ${packages.filter(({ dev }) => !dev).length} of them in images; ${bad.length} with a licence that may not be used`,
);
if (bad.length > 0) process.exitCode = 1;
