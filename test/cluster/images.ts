// All images of the cluster. No registry is needed: the base comes from debootstrap, the rest from
// the packages of Debian, npm and Maven, and each has the tag that the chart names.
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { engineFiles, type EngineFiles } from '@bmg/local';
import { docker, dockerEnvironment, exists, imageIsCurrent, markImage } from './docker';
import { CACHE, FOLDER, PROGRAMS, ROOT } from './facts';
import { programsVersion } from './programs';
import { isInstalled, run, runShown, step, words } from './run';

const BUILD_LIMIT_MS = 20 * 60_000;
const DOCKERFILES = join(FOLDER, 'images');
const DEBIAN = 'bmg-cluster/debian:12';
const PACKAGES = 'ca-certificates,libssl3,libstdc++6';
/** The line of deploy/Dockerfile's base image, as the npm registry carries it. */
const NODE_VERSION = '24.21.0';
const NODE_IMAGE = 'bmg-cluster/node:24';
/** The registry of the chart's examples. */
const REGISTRY = 'registry.example.com/bmg';

/** The tags of the trial's engines, as the chart's values name them. */
const ENGINES = Object.fromEntries(
  [
    ...readFileSync(join(ROOT, 'helm/values.yaml'), 'utf8').matchAll(
      /^ {4}(kafka|mongo|redis): (\S+:\S+)$/gm,
    ),
  ].map(([, name, tag]) => [name, tag]),
) as Record<'kafka' | 'mongo' | 'redis', string>;

interface ImagePlan {
  tag: string;
  dockerfile: string;
  args?: Record<string, string>;
  /** Files of the build context, by their name in it. */
  files?: Record<string, string>;
  /** Distinguishes files that are too large to compare. */
  version?: string;
}

/** The base of the mesh's images. */
async function nodePlan(): Promise<ImagePlan> {
  const authority = process.env['NODE_EXTRA_CA_CERTS'];
  return {
    tag: NODE_IMAGE,
    dockerfile: 'node',
    version: `${NODE_VERSION} ${(await run('npm', ['--version'])).trim()}`,
    files: { node: await nodeProgram(), npm: await npmFolder() },
    args: authority ? { NODE_EXTRA_CA_CERTS: '/etc/ssl/certs/ca-certificates.crt' } : {},
  };
}

/** npm's own package. Its global root is another folder if this process runs the project's Node. */
const npmFolder = async (): Promise<string> =>
  join((await run('npm', ['exec', '-c', 'printenv npm_execpath'])).trim(), '../..');

function enginePlans({ lib, classes, redis_server }: EngineFiles): ImagePlan[] {
  const sources = ['pom.xml', 'MongoServer.java'].map((name) => join(ROOT, 'deploy/local', name));
  return [
    {
      tag: 'bmg-cluster/java:17',
      dockerfile: 'java',
      files: { lib, classes },
      version: digest(...sources),
    },
    {
      tag: ENGINES.kafka,
      dockerfile: 'kafka',
      files: { 'kafka.sh': join(DOCKERFILES, 'kafka.sh') },
      version: digest(...sources),
    },
    { tag: ENGINES.mongo, dockerfile: 'mongo', version: digest(...sources) },
    { tag: ENGINES.redis, dockerfile: 'redis', files: { 'redis-server': redis_server } },
  ];
}

/** The images of the cluster itself, which hold the programs that were compiled. */
function programPlans(): ImagePlan[] {
  const version = programsVersion();
  const programs = (...names: string[]): Record<string, string> =>
    Object.fromEntries(names.map((name) => [name, join(PROGRAMS, name)]));
  const plan = (tag: string, dockerfile: string, files: Record<string, string>): ImagePlan => ({
    tag: `bmg-cluster/${tag}:1`,
    dockerfile,
    files,
    version,
  });
  const alone = ['pause', 'coredns'].map((name) => ({
    ...plan(name, 'program', programs(name)),
    args: { PROGRAM: name },
  }));
  const script = join(DOCKERFILES, 'machine.sh');
  return [
    ...alone,
    plan('metrics-server', 'metrics', programs('kube')),
    plan('keda', 'scaling', programs('keda', 'keda-adapter')),
    plan('machine', 'machine', {
      ...programs('kube', 'etcd', 'kube-router'),
      'machine.sh': script,
    }),
  ];
}

const digest = (...files: string[]): string => {
  const hash = createHash('sha256');
  for (const file of files) hash.update(readFileSync(file));
  return hash.digest('hex');
};

/** Node's program from the npm registry, which carries it for each platform. */
async function nodeProgram(): Promise<string> {
  const folder = join(CACHE, `node-${NODE_VERSION}`);
  const name = `node-linux-${process.arch}`;
  const program = join(folder, 'node_modules', name, 'bin/node');
  if (!existsSync(program)) {
    mkdirSync(folder, { recursive: true });
    await run(
      'npm',
      words`install --no-save --ignore-scripts --prefix ${folder} ${name}@${NODE_VERSION}`,
      { limit_ms: BUILD_LIMIT_MS, cwd: folder },
    );
  }
  return program;
}

/**
 * Debian 12 and the certificate authorities of this machine, through which registries may be
 * reached.
 */
async function buildDebian(): Promise<void> {
  if (await exists('image', DEBIAN)) return;
  if (!isInstalled('debootstrap'))
    throw new Error('debootstrap is not installed (apt-get install debootstrap)');
  const folder = mkdtempSync(join(tmpdir(), 'bmg-debian-'));
  try {
    const args = words`--variant=minbase --include=${PACKAGES} bookworm ${folder}`;
    await run('debootstrap', args, { limit_ms: BUILD_LIMIT_MS });
    cpSync('/etc/ssl/certs/ca-certificates.crt', join(folder, 'etc/ssl/certs/ca-certificates.crt'));
    for (const unneeded of words`var/cache/apt var/lib/apt/lists usr/share/doc usr/share/locale`) {
      rmSync(join(folder, unneeded), { recursive: true, force: true });
    }
    mkdirSync(join(folder, 'var/cache/apt/archives/partial'), { recursive: true });
    mkdirSync(join(folder, 'var/lib/apt/lists/partial'), { recursive: true });
    const pack = 'tar -C "$1" -c . | docker import - "$2"';
    await runShown('sh', ['-c', pack, 'sh', folder, DEBIAN], {
      env: dockerEnvironment(),
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function buildImage(plan: ImagePlan): Promise<void> {
  const { tag, dockerfile, args = {}, files = {}, version = '' } = plan;
  const file = join(DOCKERFILES, `${dockerfile}.Dockerfile`);
  const small = Object.values(files).filter((path) => path.startsWith(DOCKERFILES));
  const made_from = JSON.stringify([digest(file, ...small), args, version]);
  if (await imageIsCurrent(tag, made_from)) return;
  const context = mkdtempSync(join(tmpdir(), 'bmg-image-'));
  try {
    for (const [name, path] of Object.entries(files)) {
      cpSync(path, join(context, name), { recursive: true, verbatimSymlinks: true });
    }
    const given = Object.entries(args).map(([name, value]) => `--build-arg=${name}=${value}`);
    await docker(words`build --network host --tag ${tag} --file ${file} ${given} ${context}`, {
      limit_ms: BUILD_LIMIT_MS,
    });
    markImage(tag, made_from);
  } finally {
    rmSync(context, { recursive: true, force: true });
  }
}

/** Builds what is missing or has changed. Returns the tags that each node needs. */
export async function buildImages(): Promise<string[]> {
  await step('a base of Debian', buildDebian);
  await build([await nodePlan()]);
  await step('images of the mesh (make images)', buildMesh);
  const files = await step('the files of the engines', () =>
    engineFiles(process.env, (line) => console.log(line)),
  );
  await build(enginePlans(files));
  await build(programPlans());
  return [
    ...['pause', 'coredns', 'metrics-server', 'keda'].map((name) => `bmg-cluster/${name}:1`),
    ...Object.values(ENGINES),
    ...meshTags(),
  ];
}

async function build(plans: ImagePlan[]): Promise<void> {
  for (const plan of plans) await step(`image ${plan.tag}`, () => buildImage(plan));
}

const version = (): string =>
  (JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }).version;

/** One image for each process of the mesh, as the chart names them. */
export function meshTags(): string[] {
  const services = Object.keys(
    JSON.parse(readFileSync(join(ROOT, 'deploy/local/src/service-table.json'), 'utf8')) as object,
  );
  return [...services, 'cli', 'emulator'].map((name) => `${REGISTRY}/bmg-${name}:${version()}`);
}

async function buildMesh(): Promise<void> {
  const given = [`REGISTRY=${REGISTRY}`, `NODE_IMAGE=${NODE_IMAGE}`, 'BUILD_NETWORK=host'];
  await runShown('make', ['--no-print-directory', 'images', ...given], {
    cwd: ROOT,
    env: dockerEnvironment(),
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

export const imageId = async (tag: string): Promise<string> =>
  (await docker(['image', 'inspect', '--format', '{{.Id}}', tag])).trim();

/** The manifests of the cluster. */
export const manifestFiles = (): string[] =>
  readdirSync(join(FOLDER, 'manifests')).map((name) => join(FOLDER, 'manifests', name));
