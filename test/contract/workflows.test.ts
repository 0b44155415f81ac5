// The workflows run existing make targets, with pinned actions and least permissions, and no
// package runs code while it is installed.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { SERVICES } from '@bmg/local';
import { TOOLS } from '../helm/tools';
import { load } from '../testkit/yaml';

const ROOT = resolve(__dirname, '../..');
const FOLDER = join(ROOT, '.github/workflows');
const WORKFLOWS = readdirSync(FOLDER).map((name) => [name]);
const inFolder = (name: string): string => join('.github/workflows', name);
const read = (name: string): string => readFileSync(join(FOLDER, name), 'utf8');

interface Step {
  run?: string;
  uses?: string;
  env?: Record<string, string>;
}
interface Workflow {
  env?: Record<string, string>;
  jobs: Record<string, { env?: Record<string, string>; steps: Step[] }>;
}

/** The only commands that get the token. Each workflow is otherwise limited to the checkout's. */
const WITH_TOKEN: Record<string, string[]> = {
  'release.yml': ['gh run', 'docker login', 'gh release'],
};
const TOKEN = /github\.token|secrets\./;

/** Packages with install scripts, none of which runs, and why the package works without. */
const INSTALL_SCRIPTS: Record<string, string> = {
  '@bufbuild/buf': 'checks its optional binary package',
  '@parcel/watcher': 'builds from source only on request',
  '@swc/core': 'checks its optional binary package',
  protobufjs: 'warns about its version',
};

/** The release is made, and its images are pushed and signed. */
const WRITING: Record<string, string[]> = {
  'release.yml': ['contents: write', 'packages: write', 'token: write'],
};

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
  const written = of_jobs.flatMap((text) => [text.match(/\w+: write/g) ?? []]);
  expect(written.filter((rights) => rights.length > 0)).toEqual(wanted);
});

test.each(WORKFLOWS)('%s gives a token only to the commands that need it', (name) => {
  const workflow = load(read(name)) as Workflow;
  const jobs = Object.values(workflow.jobs);
  expect(JSON.stringify([workflow.env, ...jobs.map(({ env }) => env)])).not.toMatch(TOKEN);
  const holders = jobs
    .flatMap(({ steps }) => steps)
    .filter((step) => TOKEN.test(JSON.stringify(step)))
    .map(({ run, uses, env }) => {
      expect(JSON.stringify({ run, uses })).not.toMatch(TOKEN);
      expect(env).toMatchObject({ GH_TOKEN: '${{ github.token }}' });
      return run?.split(' ').slice(0, 2).join(' ');
    });
  expect(holders).toEqual(WITH_TOKEN[name] ?? []);
});

test('a release installs the packages before a step gets the token', () => {
  const { steps } = (load(read('release.yml')) as Workflow).jobs['release'] as { steps: Step[] };
  const first = steps.findIndex((step) => TOKEN.test(JSON.stringify(step)));
  for (const { run = '', uses = '' } of steps.slice(first)) {
    expect(`${uses}${run}`).not.toMatch(
      /setup-|installer|\bnpm\b|\bnpx\b|make (?!(?:sign-)?images )/,
    );
  }
});

test('no package runs a script while it is installed', () => {
  const npmrc = readFileSync(join(ROOT, '.npmrc'), 'utf8');
  expect(npmrc).toMatch(/^ignore-scripts=true$/m);
  for (const file of ['Makefile', 'deploy/Dockerfile', ...WORKFLOWS.flat().map(inFolder)]) {
    const text = readFileSync(join(ROOT, file), 'utf8');
    expect(text).not.toMatch(/ignore-scripts[= ](false|0|no)|npm (rebuild|rb)|allow-scripts/);
  }
  const { allowScripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    allowScripts?: unknown;
  };
  expect(allowScripts).toBeUndefined();
});

test('every package with an install script is known to work without it', () => {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { hasInstallScript?: true }>;
  };
  const names = Object.entries(packages)
    .filter(([, { hasInstallScript }]) => hasInstallScript)
    .map(([path]) => path.replace(/^.*node_modules\//, ''));
  expect([...new Set(names)].sort()).toEqual(Object.keys(INSTALL_SCRIPTS).sort());
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

test('a release needs green checks, and signs every image that it pushed by its digest', () => {
  const release = read('release.yml');
  const { jobs } = load(release) as { jobs: Record<string, { needs?: string }> };
  expect(jobs['release']?.needs).toBe('checked');
  const [pushed, signed] = ['make images PUSH=1', 'make sign-images'].map((command) =>
    release.indexOf(command),
  ) as [number, number];
  expect([pushed > 0, signed > pushed]).toEqual([true, true]);
  const tools = mkdtempSync(join(tmpdir(), 'sign-'));
  const tool = (name: string, script: string): void =>
    writeFileSync(join(tools, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  tool('docker', 'echo "sha256:$(echo "$4" | tr -dc 0-9 | cut -c1-3)"');
  tool('cosign', 'echo "$@"');
  const env = { ...process.env, PATH: `${tools}:${process.env['PATH']}` };
  const args = ['--silent', 'sign-images', 'REGISTRY=registry.example/bmg', 'TAG=1.2.3'];
  const lines = execFileSync('make', args, { cwd: ROOT, env, encoding: 'utf8' }).trim().split('\n');
  expect(lines).toHaveLength(Object.keys(SERVICES).length + 2);
  for (const line of lines) {
    expect(line).toMatch(/^sign --yes registry\.example\/bmg\/bmg-[a-z-]+@sha256:\d{3}$/);
  }
  rmSync(tools, { recursive: true });
});

test('CI looks for known vulnerabilities and verifies the signatures of all packages', () => {
  expect(read('ci.yml')).toMatch(/^ +npm audit --omit=dev --json/m);
  expect(read('ci.yml')).toMatch(/^ +npm audit signatures/m);
});
