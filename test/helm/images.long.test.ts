// Tests the images without Docker: runs the instructions of deploy/Dockerfile in a plain folder and
// starts every process from its image's files, as a user without write access to them.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { version } from '../../package.json';
import { createRpcClient, ownCall } from '@bmg/common/rpc';
import { unsampled } from '@bmg/common/telemetry';
import { freePort } from '@bmg/local';
import { DestinationsDefinition } from '@bmg/proto/destinations';
import { eventually } from '../testkit/eventually';
import { startProcessMesh, type ProcessMesh } from '../harness/process-mesh';
import { ROOT, SERVICES, WORKSPACES } from './facts';
import { ignoreRules, makeBuild, makeImage, type Image } from './image-layout';

const FULL = process.env['BMG_IMAGE'] === 'full';
const BUILD_LIMIT_MS = FULL ? 30 * 60_000 : 5 * 60_000;
const START_LIMIT_MS = 60_000;
const EXIT_CONFIG = 78;
const CLIENT = `/clients/bmg-client-${version}.tgz`;
const IMAGE_LIMIT_MB = 60;
const AWS = { region: 'eu-west-1', access_key_id: 'id', secret_access_key: 'key' };
/** One of each type, with a host that does not resolve, and the setting that a connector names. */
const CONNECTIONS: ReadonlyArray<[type: string, settings: object, setting: string]> = [
  [
    'kafka',
    { brokers: ['broker.invalid:9093'], topic: 'events', tls: true, mechanism: 'none' },
    'brokers',
  ],
  [
    'amqp',
    {
      ...{ host: 'queue.invalid', tls: true, vhost: '/', username: 'user', password: 'word' },
      ...{ exchange: 'events', routing_key: '{event}' },
    },
    'host',
  ],
  ['sqs', { ...AWS, queue_url: 'https://sqs.invalid/1/queue' }, 'queue_url'],
  ['s3', { ...AWS, endpoint: 'https://s3.invalid', bucket: 'bucket', prefix: '' }, 'endpoint'],
];
const EVENT = {
  event_id: 'evt_1',
  event: 'webhook.test',
  ordering_key: undefined,
  body: Buffer.from('{}'),
  content_type: 'application/json',
  received_at_ms: 0,
};

let dir: string;
const images = new Map<string, Image>();
const running: ChildProcess[] = [];

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'bmg-images-'));
  chmodSync(dir, 0o755);
  const build = join(dir, 'build');
  makeBuild(build, { full: FULL });
  for (const [name, workspace] of Object.entries({ ...WORKSPACES, emulator: 'test' })) {
    const target = name === 'emulator' ? 'emulator' : 'service';
    images.set(name, makeImage(join(dir, name), { build, target, workspace }));
  }
}, BUILD_LIMIT_MS);

afterAll(async () => {
  for (const child of running) child.kill('SIGKILL');
  rmSync(dir, { recursive: true, force: true });
});

/** The size of a folder's files on disk. */
const megabytes = (folder: string): number =>
  Number(execFileSync('du', ['-sm', folder], { encoding: 'utf8' }).split('\t')[0]);

const imageOf = (name: string): Image => images.get(name) as Image;

interface Ended {
  code: number | null;
  out: string;
  err: string;
}

interface Started {
  child: ChildProcess;
  ended: Promise<Ended>;
}

/** Starts the image's entry point like `docker run`; as root, under the image's user. */
function start(name: string, env: Record<string, string> = {}, args: string[] = []): Started {
  const image = imageOf(name);
  const [command, ...before] = image.entrypoint as [string, ...string[]];
  expect(command).toBe('node');
  const [uid, gid] = image.user.split(':').map(Number) as [number, number];
  const child = spawn(process.execPath, [...before, ...args], {
    cwd: join(image.root, image.workdir),
    env: { PATH: process.env['PATH'], ...image.env, ...env },
    ...(process.getuid?.() === 0 && { uid, gid }),
  });
  return { child, ended: endOf(child) };
}

/** What a process that a test started has written once it has ended. */
function endOf(child: ChildProcess): Promise<Ended> {
  running.push(child);
  const output = { out: '', err: '' };
  child.stdout?.on('data', (text: Buffer) => (output.out += text.toString()));
  child.stderr?.on('data', (text: Buffer) => (output.err += text.toString()));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, ...output }));
  });
}

test('images have a numeric user, a stop signal and no build tools', () => {
  for (const image of images.values()) {
    expect(image.user).toMatch(/^[1-9]\d*:[1-9]\d*$/);
    expect(image.env).toEqual({ NODE_ENV: 'production' });
    expect(image.stop_signal).toBe('SIGTERM');
  }
  for (const tool of ['typescript', 'jest', 'eslint', 'ts-proto', '@swc/core']) {
    expect(() =>
      readFileSync(join(dir, `gateway/app/node_modules/${tool}/package.json`)),
    ).toThrow();
  }
  expect(() => readFileSync(join(dir, 'gateway/app/gateway/src/main.ts'))).toThrow();
});

test('an image holds at most 60 MB, and no package that only another service needs', () => {
  const sizes = [...images].map(([name, { root }]) => [name, megabytes(root)] as const);
  expect(sizes.filter(([, size]) => size > IMAGE_LIMIT_MB)).toEqual([]);
  const packages = (name: string): string[] => readdirSync(join(dir, name, 'app/node_modules'));
  expect(packages('gateway')).toContain('koa');
  expect(packages('messaging')).not.toContain('koa');
});

test('reads .dockerignore as Docker does', () => {
  const ignored = ignoreRules('*\n!services\n**/dist\n**/*.test.ts\ntest/e2e\n');
  const left = ['services', 'services/a/src/main.ts', 'services/a/distance.ts'];
  const out = [
    'README.md',
    '.git/HEAD',
    'services/a/dist',
    'services/a/dist/x.js',
    'services/x.test.ts',
  ];
  expect([...left, ...out].filter((path) => !ignored(path))).toEqual(left);
});

test.each(Object.keys(SERVICES))(
  'the image of %s holds all that the process loads: it starts and checks its settings',
  async (name) => {
    const { code, err } = await start(name, { STOP_TIMEOUT_MS: 'soon' }).ended;
    expect([code, err]).toEqual([EXIT_CONFIG, expect.stringContaining('STOP_TIMEOUT_MS must be')]);
  },
);

test('a connector starts from the image of destinations, and resolves what it loads', async () => {
  const [port, metrics] = [await freePort(), await freePort()];
  const running_image = start('destinations', {
    GRPC_HOST: '127.0.0.1',
    GRPC_PORT: String(port),
    METRICS_PORT: String(metrics),
    DRAIN_MS: '0',
  });
  const client = createRpcClient(DestinationsDefinition, `127.0.0.1:${port}`);
  await eventually(async () => (await fetch(`http://127.0.0.1:${metrics}/readyz`)).status === 200);
  for (const [type, settings, setting] of CONNECTIONS) {
    const request = { partner_id: 'ptn_image', destination: { type, settings }, event: EVENT };
    const checked = await client.rpc.check(request, ownCall(unsampled(), START_LIMIT_MS));
    expect([type, checked.fault?.setting, checked.outcome?.error]).toEqual([
      type,
      setting,
      undefined,
    ]);
  }
  await client.stop();
  running_image.child.kill('SIGTERM');
  expect((await running_image.ended).code).toBe(0);
});

test('the CLI and the emulator run from their images', async () => {
  const cli = await start('cli', {}, ['--help']).ended;
  expect([cli.code, cli.out]).toEqual([0, expect.stringContaining('Usage: bmg')]);
  const emulator = await start('emulator', {}, ['--help']).ended;
  expect([emulator.code, emulator.out]).toEqual([0, expect.stringContaining('EMULATOR_PORT')]);
});

describe('with engines', () => {
  const run = `i${process.pid}${Date.now().toString(36)}`;
  let common: Record<string, string>;

  beforeAll(() => {
    common = {
      MONGO_URL: process.env['MONGO_URL'] as string,
      KAFKA_BROKERS: process.env['KAFKA_BROKERS'] as string,
      REDIS_URL: process.env['REDIS_URL'] as string,
      MONGO_DATABASE_PREFIX: `${run}-`,
      KAFKA_TOPIC_PREFIX: `${run}.`,
      REDIS_KEY_PREFIX: `${run}:`,
      KEY_PEPPER: 'image-test-pepper',
      ENCRYPTION_KEYRING: 'local:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=',
    };
  });

  test('the job that prepares the engines makes topics and indexes, and ends', async () => {
    const ended = await start('messaging', { ...common, ONBOARDING_ADDR: '127.0.0.1:1' }, [
      'prepare',
    ]).ended;
    expect([ended.code, ended.err]).toEqual([0, '']);
    expect(ended.out).toContain('"component":"mongo"');
    expect(ended.out).toContain('"component":"kafka"');
    const client = await MongoClient.connect(common['MONGO_URL'] as string);
    try {
      const collections = await client.db(`${run}-messaging`).listCollections().toArray();
      expect(collections.map(({ name }) => name)).toContain('messages');
    } finally {
      await client.close();
    }
  });

  test('gateway and onboarding serve, and stop on the signal of their image', async () => {
    const [rest, grpc, metrics, edgeMetrics] = [
      await freePort(),
      await freePort(),
      await freePort(),
      await freePort(),
    ];
    const shared = {
      ...common,
      PUBLIC_URL: `http://127.0.0.1:${rest}`,
      ONBOARDING_ADDR: `127.0.0.1:${grpc}`,
      DRAIN_MS: '0',
    };
    const onboarding = start('onboarding', {
      ...shared,
      GRPC_PORT: String(grpc),
      METRICS_PORT: String(metrics),
    });
    const absent = ['MESSAGING', 'TEMPLATES', 'BROADCASTS', 'NUMBER_ADMIN', 'WEBHOOKS'];
    const gateway = start('gateway', {
      ...shared,
      ...Object.fromEntries(absent.map((name) => [`${name}_ADDR`, '127.0.0.1:1'])),
      GATEWAY_PORT: String(rest),
      METRICS_PORT: String(edgeMetrics),
    });
    const status = async (url: string): Promise<number> => (await fetch(url)).status;
    for (const port of [metrics, edgeMetrics]) {
      await eventually(async () => (await status(`http://127.0.0.1:${port}/livez`)) === 200);
      await eventually(async () => (await status(`http://127.0.0.1:${port}/readyz`)) === 200);
    }
    for (const path of ['/docs', '/openapi.json', '/changelog', CLIENT]) {
      expect([path, await status(`http://127.0.0.1:${rest}${path}`)]).toEqual([path, 200]);
    }
    for (const { child, ended } of [gateway, onboarding]) {
      child.kill(imageOf('gateway').stop_signal as NodeJS.Signals);
      expect((await ended).code).toBe(0);
    }
  });
});

describe('beside a whole mesh', () => {
  let mesh: ProcessMesh;
  beforeAll(async () => {
    mesh = await startProcessMesh();
    // The check uses the accounts that the emulator has when it is started by itself.
    await mesh.emulator.reset();
  });
  afterAll(() => mesh.stop());

  const smoke = (env: Record<string, string>): Promise<Ended> => {
    const image = imageOf('cli');
    const child = spawn(process.execPath, [join(ROOT, 'helm/files/smoke.js')], {
      cwd: join(image.root, image.workdir),
      env: { PATH: process.env['PATH'], ...image.env, ...env },
    });
    return endOf(child);
  };
  const base = (): string => mesh.base_url.replace(/\/v1$/, '');

  test('the check of `helm test` sends a message and sees its read status', async () => {
    const { code, out, err } = await smoke({
      BASE_URL: base(),
      ONBOARDING_ADDR: mesh.settings['ONBOARDING_ADDR'] as string,
      EMULATOR_URL: mesh.settings['EMULATOR_URL'] as string,
    });
    expect([code, err]).toEqual([0, '']);
    expect(out).toContain('message read: ');
  });

  test('the check of `helm test` fails with a reason when the mesh is unreachable', async () => {
    const { code, err } = await smoke({ BASE_URL: 'http://127.0.0.1:1', WAIT_MS: '100' });
    expect(code).toBe(1);
    expect(err).toMatch(/^helm test: the gateway is not healthy: /);
  });
});
