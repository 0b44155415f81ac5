// `make licences`: writes deploy/LICENCES.md from the lockfile and fails if a licence is not
// allowed.
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { licenceOf, licencesPage, readLockfile, refused } from './licences';

const ROOT = resolve(__dirname, '../../..');
const packages = readLockfile(readFileSync(resolve(ROOT, 'package-lock.json'), 'utf8'));
writeFileSync(resolve(ROOT, 'deploy/LICENCES.md'), licencesPage(packages));
const bad = refused(packages);
for (const one of bad) {
  console.error(
    `${one.name} ${one.version}: ${licenceOf(one) || 'no licence given'}${one.dev ? ' (development tool)' : ''}`,
  );
}
console.log(
  `${packages.length} packages, ${packages.filter(({ dev }) => !dev).length} of them in images; ${bad.length} with a licence that is not allowed`,
);
if (bad.length > 0) process.exitCode = 1;
