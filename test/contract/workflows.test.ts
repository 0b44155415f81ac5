// The workflows run existing make targets, with pinned actions and least permissions.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { TOOLS } from '../helm/tools';

const ROOT = resolve(__dirname, '../..');
const FOLDER = join(ROOT, '.github/workflows');
const WORKFLOWS = readdirSync(FOLDER).map((name) => [name]);
const read = (name: string): string => readFileSync(join(FOLDER, name), 'utf8');

/** The release is made, and its images are pushed. */
const WRITING: Record<string, string[]> = { 'release.yml': ['contents: write', 'packages: write'] };

test.each(WORKFLOWS)('%s pins every action by commit, with its version in a comment', (name) => {
  const uses = read(name).match(/^.*\buses:.*$/gm) ?? [];
  expect(uses.length).toBeGreaterThan(0);
  for (const line of uses) {
    expect(line).toMatch(/uses: [\w-]+(\/[\w-]+)+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  }
});

test.each(WORKFLOWS)('%s may only read the repository, unless a job has to write', (name) => {
  expect(read(name)).toMatch(/^permissions:\n {2}contents: read\n(?! )/m);
  const [, ...of_jobs] = read(name).match(/permissions:\n( +.*: (read|write)\n)+/g) ?? [];
  const wanted = WRITING[name] ? [WRITING[name]] : [];
  expect(of_jobs.map((text) => text.match(/\w+: write/g))).toEqual(wanted);
});

test.each(WORKFLOWS)('%s runs make targets that exist', (name) => {
  const targets = readFileSync(join(ROOT, 'Makefile'), 'utf8').match(/^[a-z][a-z-]*(?=:)/gm);
  const run = [...read(name).matchAll(/run: make ([a-z-]+)/g)].map(([, target]) => target);
  expect(run.filter((target) => !targets?.includes(target as string))).toEqual([]);
});

test.each(WORKFLOWS)('%s caches the folder that the tools are built in', (name) => {
  const cached = read(name).match(/(?<=actions\/cache@.*\n +with:\n +path: ).*/g) ?? [];
  if (name !== 'release.yml') expect(cached.length).toBeGreaterThan(0);
  for (const path of cached) expect(path).toBe(`~/.cache/${basename(TOOLS)}`);
});

test('a release has images from a base by digest, each with provenance and a bill of materials', () => {
  const release = read('release.yml');
  expect(release).toMatch(/make images PUSH=1 .*NODE_IMAGE="node:[\w.-]+@\$digest"/);
  expect(release).toMatch(/gh release create .* \.run\/sbom\.cdx\.json/);
  const makefile = readFileSync(join(ROOT, 'Makefile'), 'utf8');
  expect(makefile).toMatch(/\$\(if \$\(PUSH\),--push --provenance=mode=max --sbom=true,/);
});

test('CI looks for known vulnerabilities and verifies the signatures of all packages', () => {
  expect(read('ci.yml')).toMatch(/^ +npm audit --omit=dev --json/m);
  expect(read('ci.yml')).toMatch(/^ +npm audit signatures/m);
});
