// The production example, on engines outside the cluster: Kafka and Redis accept only TLS and a
// user for each process with the rights of deploy/ENGINE-USERS.md, every service has a Secret of
// its own, and the chart makes the certificates. MongoDB is the stand-in, which knows neither TLS
// nor users.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, launch, mongo, SERVICE_NAMES } from '@bmg/local';
import { allowUsers, type UserGrant } from '../testkit/kafka-users';
import { startSecureKafka, startSecureRedis, stopAndRemove } from '../testkit/secure-engines';
import { untilMeasured } from './autoscaling';
import { HOST_ADDRESS, ROOT } from './facts';
import { helmTest, installRelease, startFromNothing } from './install';
import { serviceFacts } from './network';
import {
  bmg,
  IN_NAMESPACE,
  inNamespace,
  json,
  PRODUCTION,
  untilRolledOut,
  valuesFile,
} from './release';
import { apply } from './run';
import { identities, restrictedPods } from './security';
import { underTraffic, type Options } from './traffic';
import { FRONT_PODS } from './upgrade';

const AUTHORITIES = 'internal-ca';

type Engines = Awaited<ReturnType<typeof startEngines>>;

/** The lines of a section of the page about the engines' users. */
function linesOf(section: string, starts: string): string[] {
  const page = readFileSync(join(ROOT, 'deploy/ENGINE-USERS.md'), 'utf8');
  const [, part = ''] = page.split(`<!-- ${section} -->`);
  const lines = part
    .split(`<!-- /${section} -->`)[0]
    ?.split('\n')
    .filter((line) => line.startsWith(starts));
  if (!lines?.length) throw new Error(`deploy/ENGINE-USERS.md has no commands for ${section}`);
  return lines;
}

/** A `kafka-acls` command of that page. */
function grantOf(command: string): UserGrant {
  const of = (option: string): string[] =>
    [...command.matchAll(new RegExp(`--${option} (\\S+)`, 'g'))].map(
      ([, value]) => value as string,
    );
  const [topics, groups] = [of('topic'), of('group')];
  return {
    user: (of('allow-principal')[0] ?? '').replace('User:', ''),
    operations: of('operation'),
    resource: topics.length > 0 ? 'topic' : 'group',
    names: [...topics, ...groups],
    prefixed: of('resource-pattern-type')[0] === 'prefixed',
  };
}

/**
 * Starts the engines on this machine, where the pods reach them as they would reach a company's
 * own.
 */
async function startEngines() {
  const password = randomBytes(12).toString('hex');
  const grants = linesOf('kafka', 'kafka-acls').map(grantOf);
  const scram = Object.fromEntries(grants.map(({ user }) => [user, password]));
  const kafka = await startSecureKafka({ scram, acls: true, host: HOST_ADDRESS });
  await allowUsers(kafka.admin, grants);
  const users = linesOf('redis', 'user ').map((line) =>
    line.replace('user ', '').replace('>PASSWORD', `>${password}`),
  );
  const redis = await startSecureRedis(users, HOST_ADDRESS);
  const port = await freePort();
  const dir = mkdtempSync(join(tmpdir(), 'bmg-production-mongo-'));
  const { env } = process;
  const plan = await mongo.prepare({ data: dir, port, env, log: () => undefined });
  await launch({ ...plan, args: [...plan.args, HOST_ADDRESS], dir, name: 'mongo', cwd: dir, env });
  return {
    settings: { KAFKA_BROKERS: `${HOST_ADDRESS}:${kafka.port}`, KAFKA_REPLICATION: 1 },
    ports: { kafka: kafka.port, mongo: port, redis: redis.port },
    /** The authorities of their certificates. */
    authorities: [kafka, redis].map(({ ca_file }) => readFileSync(ca_file, 'utf8')).join(''),
    redisUrl: (service: string) =>
      `rediss://bmg-${service}:${password}@${HOST_ADDRESS}:${redis.port}`,
    mongo_url: `mongodb://${HOST_ADDRESS}:${port}/?directConnection=true`,
    password,
    async stop(): Promise<void> {
      await Promise.all([kafka.stop(), redis.stop(), stopAndRemove(dir, 'mongo', dir)]);
    },
  };
}

const secretOf = (service: string): string => `bmg-${service}-own`;

/**
 * A Secret for each service with what it reads, as a store would fill them, and the engines'
 * authorities.
 */
async function createSecrets({
  authorities,
  redisUrl,
  mongo_url,
  password,
}: Engines): Promise<void> {
  const keyring = (): string => `k1:hkdf:${randomBytes(32).toString('base64')}`;
  const shared: Record<string, string> = {
    KEY_PEPPER: `1:${randomBytes(32).toString('base64')}`,
    ENCRYPTION_KEYRING: keyring(),
    EVENT_LOG_KEYRING: keyring(),
    // Those of the emulator.
    UPSTREAM_APP_SECRET: 'app-secret-local',
    UPSTREAM_VERIFY_TOKEN: 'verify-local',
    PLATFORM_PIN: '000000',
    KAFKA_SASL_PASSWORD: password,
    MONGO_URL: mongo_url,
  };
  const items: object[] = [
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: AUTHORITIES },
      data: { 'ca.crt': authorities },
    },
  ];
  const operator = { secrets: [], optional_secrets: ['KAFKA_SASL_PASSWORD'] };
  for (const [service, { secrets, optional_secrets }] of [
    ...serviceFacts(),
    ['operator', operator] as const,
  ]) {
    const all: Record<string, string> = { ...shared, REDIS_URL: redisUrl(service) };
    const read = [...secrets, ...optional_secrets].filter((name) => name in all);
    items.push({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: secretOf(service) },
      stringData: Object.fromEntries(read.map((name) => [name, all[name]])),
    });
  }
  await apply(items, IN_NAMESPACE);
}

/** What this cluster has instead of the example's store, issuer and Prometheus operator. */
function replacements({ settings, ports }: Engines): string[] {
  const host = [{ ipBlock: { cidr: `${HOST_ADDRESS}/32` } }];
  const values = {
    settings: {
      ...settings,
      // The receivers of the test.
      ALLOW_PRIVATE_URLS: true,
      UPSTREAM_APP_ID: 'app-local',
      UPSTREAM_CONFIG_ID: 'config-local',
    },
    emulator: { enabled: true },
    secrets: { external: { enabled: false }, existing: 'none' },
    mtls: { certManager: { enabled: false } },
    podMonitor: { enabled: false },
    services: Object.fromEntries(SERVICE_NAMES.map((name) => [name, { secret: secretOf(name) }])),
    operator: { secret: secretOf('operator') },
    networkPolicy: Object.fromEntries(
      Object.entries(ports).map(([engine, port]) => [engine, { ports: [port], to: host }]),
    ),
  };
  return ['--values', PRODUCTION, '--values', valuesFile('production', values)];
}

interface Budgets {
  items: Array<{ metadata: { name: string }; status: { disruptionsAllowed: number } }>;
}

export async function productionExample({ seed }: Options): Promise<string> {
  await startFromNothing();
  const engines = await startEngines();
  try {
    await createSecrets(engines);
    const installed = await installRelease(replacements(engines));
    await helmTest();
    await restrictedPods();
    await identities();
    await bmg('status');
    const budgets = (await json<Budgets>(['get', 'PodDisruptionBudgets'])).items;
    const closed = budgets.filter(({ status }) => status.disruptionsAllowed < 1);
    if (budgets.length < SERVICE_NAMES.length || closed.length > 0) {
      throw new Error(`${budgets.length} budgets, of which ${closed.length} allow no disruption`);
    }
    // KEDA reads each lag over TLS as the service's own user, metrics-server the CPU of each
    // service.
    const lags = (await untilMeasured(SERVICE_NAMES.length)) - SERVICE_NAMES.length;
    const figures = await underTraffic({
      name: 'production',
      seed: seed + 4,
      cut_off_max: FRONT_PODS,
      async disturb() {
        // Not the upstream, which would forget what it was sent.
        const all = SERVICE_NAMES.map((name) => `deployment/bmg-${name}`);
        await inNamespace(['rollout', 'restart', ...all]);
        await untilRolledOut();
      },
    });
    return `${installed}; ${budgets.length} disruption budgets; ${SERVICE_NAMES.length} autoscalers measure CPU and ${lags} consumer lags; all pods restarted: ${figures}`;
  } finally {
    // The next installation removes the rest.
    await inNamespace(['delete', 'deployments', '--all']);
    await engines.stop();
  }
}
