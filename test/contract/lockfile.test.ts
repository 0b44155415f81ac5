// The lockfile fits the manifests, so that `npm install` in a fresh clone leaves it unchanged.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(__dirname, '../..');
const KINDS = [
  'dependencies',
  'devDependencies',
  'optionalDependencies',
  'peerDependencies',
] as const;

type Names = Readonly<Record<string, string>>;
type Manifest = Partial<Record<(typeof KINDS)[number], Names>>;
interface Locked extends Manifest {
  version?: string;
  resolved?: string;
  link?: boolean;
}

const read = <T>(path: string): T => JSON.parse(readFileSync(join(ROOT, path), 'utf8')) as T;
const { packages } = read<{ packages: Record<string, Locked> }>('package-lock.json');
const isInstalled = (path: string): boolean => /(?:^|\/)node_modules\//.test(path);
const workspaces = Object.keys(packages).filter((path) => !isInstalled(path));

const namesOf = (manifest: Manifest): Names =>
  Object.assign({}, ...KINDS.map((kind) => manifest[kind]));

/**
 * The place of a package for an importer: the nearest `node_modules` that has it, as Node looks.
 */
function placeOf(name: string, importer: string): string | undefined {
  const folders = importer === '' ? [] : importer.split('/');
  for (let depth = folders.length; depth >= 0; depth -= 1) {
    const place = [...folders.slice(0, depth), 'node_modules', name].join('/');
    if (packages[place]) return packages[place].link ? packages[place].resolved : place;
  }
  return undefined;
}

test.each(workspaces)('has what the manifest of “%s” names', (path) => {
  const manifest = read<Manifest>(join(path, 'package.json'));
  const locked = packages[path] as Locked;
  for (const kind of KINDS) expect(locked[kind]).toEqual(manifest[kind]);
  const others = Object.entries(namesOf(manifest))
    .filter(([, version]) => /^\d/.test(version))
    .map(([name, version]) => [name, version, packages[placeOf(name, path) ?? '']?.version])
    .filter(([, version, installed]) => version !== installed);
  expect(others).toEqual([]);
});

test('has no package that nothing needs', () => {
  const reached = new Set(workspaces);
  for (const path of reached) {
    for (const name of Object.keys(namesOf(packages[path] as Locked))) {
      const place = placeOf(name, path);
      if (place !== undefined) reached.add(place);
    }
  }
  const links = Object.keys(packages).filter((path) => packages[path]?.link);
  expect(
    Object.keys(packages).filter((path) => !reached.has(path) && !links.includes(path)),
  ).toEqual([]);
});
