// Engines that accept only TLS and known users: a Kafka broker, a Redis and a server of MongoDB's
// protocol, with certificates made at run time.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  findJava,
  freePort,
  javaFlags,
  launch,
  logSince,
  logTail,
  redis as localRedis,
  requireJars,
  stopProcess,
} from '@bmg/local';
import { eventually } from './eventually';
import { signalProcess } from './signal-process';

export const SECURE_START_LIMIT_MS = 120_000;
const WANTED = { what: 'the local Kafka', instead: 'install one' };
const CLUSTER_ID = Buffer.from('bmg-secure-kafka').toString('base64url');

export interface SecureEngine {
  port: number;
  /** The authority that signed its certificate. */
  ca_file: string;
  stop(): Promise<void>;
}

export interface SecureKafka extends SecureEngine {
  /** The listener of the administrator, without TLS and user. */
  admin: string;
  /** Sends a signal to the broker; resolves once a broker that is killed has ended. */
  signal(name: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL'): Promise<void>;
  /** Starts the broker again, with its data. */
  restart(): Promise<void>;
}

export interface KafkaUsers {
  /** User name to password. */
  scram: Record<string, string>;
  plain?: Record<string, string>;
  /** Users may do only what an ACL allows them. */
  acls?: boolean;
  /** Where the listener with TLS is. */
  host?: string;
  /** The host that the broker's metadata names for that listener. */
  advertised_host?: string;
}

const LOCAL_HOST = '127.0.0.1';

/** An authority, and a certificate by it for an address of this machine. */
export function makeCertificates(dir: string, host = LOCAL_HOST): void {
  const openssl = (...args: string[]): void => {
    execFileSync('openssl', args, { cwd: dir, stdio: 'pipe' });
  };
  const key = ['-newkey', 'rsa:2048', '-nodes', '-days', '2'];
  openssl('req', '-x509', ...key, '-keyout', 'ca.key', '-out', 'ca.pem', '-subj', '/CN=Test CA');
  openssl('req', ...key.slice(0, 3), '-keyout', 'key.pem', '-out', 'csr', '-subj', '/CN=engine');
  writeFileSync(join(dir, 'ext'), `subjectAltName=IP:${host},DNS:localhost`);
  const signer = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2'];
  openssl('x509', '-req', '-in', 'csr', ...signer, '-extfile', 'ext', '-out', 'cert.pem');
}

const jaas = (module: string, users: Record<string, string> = {}): string =>
  [
    `org.apache.kafka.common.security.${module} required`,
    ...Object.entries(users).map(([name, password]) => `user_${name}="${password}"`),
  ].join(' ') + ';';

interface Ports {
  secure: number;
  plain: number;
  controller: number;
}

function kafkaProperties(
  dir: string,
  ports: Ports,
  { plain, acls, host = LOCAL_HOST, advertised_host = host }: KafkaUsers,
): string {
  const { secure, plain: open, controller } = ports;
  const lines = [
    'process.roles=broker,controller',
    'node.id=1',
    `controller.quorum.voters=1@127.0.0.1:${controller}`,
    `listeners=SECURE://${host}:${secure},BROKER://127.0.0.1:${open},CONTROLLER://127.0.0.1:${controller}`,
    `advertised.listeners=SECURE://${advertised_host}:${secure},BROKER://127.0.0.1:${open}`,
    'controller.listener.names=CONTROLLER',
    'inter.broker.listener.name=BROKER',
    'listener.security.protocol.map=SECURE:SASL_SSL,BROKER:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512',
    `listener.name.secure.plain.sasl.jaas.config=${jaas('plain.PlainLoginModule', plain)}`,
    ...['256', '512'].map(
      (bits) =>
        `listener.name.secure.scram-sha-${bits}.sasl.jaas.config=${jaas('scram.ScramLoginModule')}`,
    ),
    // The broker itself, and the administrator of the open listener.
    ...(acls
      ? [
          'authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer',
          'super.users=User:ANONYMOUS',
        ]
      : []),
    'ssl.keystore.type=PEM',
    `ssl.keystore.location=${join(dir, 'broker.pem')}`,
    `log.dirs=${join(dir, 'log')}`,
    'auto.create.topics.enable=false',
    'offsets.topic.replication.factor=1',
    'offsets.topic.num.partitions=2',
    'group.initial.rebalance.delay.ms=0',
    'transaction.state.log.replication.factor=1',
    'transaction.state.log.min.isr=1',
    'log.cleaner.dedupe.buffer.size=8388608',
  ];
  const file = join(dir, 'server.properties');
  writeFileSync(file, `${lines.join('\n')}\n`);
  return file;
}

export async function startSecureKafka(users: KafkaUsers): Promise<SecureKafka> {
  const dir = mkdtempSync(join(tmpdir(), 'bmg-secure-kafka-'));
  mkdirSync(join(dir, 'log'));
  makeCertificates(dir, users.host);
  // One PEM file with key and certificate, as Kafka reads it.
  const both = ['key.pem', 'cert.pem'].map((name) => readFileSync(join(dir, name), 'utf8'));
  writeFileSync(join(dir, 'broker.pem'), both.join(''));
  const ports = {
    secure: await freePort(),
    plain: await freePort(),
    controller: await freePort(),
  };
  const properties = kafkaProperties(dir, ports, users);
  const java = await findJava(process.env, WANTED);
  const lib = await requireJars(process.env, WANTED, () => undefined);
  const classPath = ['-cp', join(lib, '*')];
  const scram = Object.entries(users.scram).flatMap(([name, password]) =>
    ['256', '512'].flatMap((bits) => [
      '--add-scram',
      `SCRAM-SHA-${bits}=[name=${name},password=${password}]`,
    ]),
  );
  const format = ['format', '-t', CLUSTER_ID, '-c', properties, ...scram];
  execFileSync(java, [...javaFlags('128m'), ...classPath, 'kafka.tools.StorageTool', ...format], {
    stdio: 'pipe',
  });
  let pid = 0;
  const start = async (): Promise<void> => {
    const started = await launch({
      dir,
      name: 'kafka',
      command: java,
      args: [
        ...javaFlags('384m'),
        '-Dorg.slf4j.simpleLogger.log.kafka.server.KafkaRaftServer=info',
        ...classPath,
        'kafka.Kafka',
        properties,
      ],
      cwd: dir,
      env: process.env,
    });
    pid = started.pid;
    await eventually(() => {
      if (logSince(started.logFile, started.logFrom).includes('Kafka Server started')) return true;
      throw new Error(logTail(started.logFile, started.logFrom));
    }, SECURE_START_LIMIT_MS);
  };
  await start();
  return {
    port: ports.secure,
    admin: `127.0.0.1:${ports.plain}`,
    ca_file: join(dir, 'ca.pem'),
    signal: (name) => signalProcess(pid, name),
    restart: start,
    stop: () => stopAndRemove(dir, 'kafka', properties),
  };
}

/** `users` are the lines of its ACL file. There are no other users. */
export async function startSecureRedis(users: string[], host = LOCAL_HOST): Promise<SecureEngine> {
  const dir = mkdtempSync(join(tmpdir(), 'bmg-secure-redis-'));
  makeCertificates(dir, host);
  writeFileSync(
    join(dir, 'users.acl'),
    ['user default off', ...users.map((user) => `user ${user}`), ''].join('\n'),
  );
  const port = await freePort();
  const { command } = await localRedis.prepare({
    data: dir,
    port,
    env: process.env,
    log: () => undefined,
  });
  await launch({
    dir,
    name: 'redis',
    command,
    args: [
      ...['--port', '0', '--tls-port', String(port), '--bind', host, '--save', ''],
      ...['--tls-cert-file', 'cert.pem', '--tls-key-file', 'key.pem', '--tls-ca-cert-file'],
      ...['ca.pem', '--tls-auth-clients', 'no', '--aclfile', 'users.acl', '--dir', dir],
    ],
    cwd: dir,
    env: process.env,
  });
  return {
    port,
    ca_file: join(dir, 'ca.pem'),
    stop: () => stopAndRemove(dir, 'redis', 'redis-server'),
  };
}

/** A server of MongoDB's protocol, with its administrator. `program` is that of FerretDB. */
export async function startSecureMongo(
  program: string,
  admin: { username: string; password: string },
): Promise<SecureEngine> {
  const dir = mkdtempSync(join(tmpdir(), 'bmg-secure-mongo-'));
  makeCertificates(dir);
  const port = await freePort();
  await launch({
    dir,
    name: 'mongo',
    command: program,
    args: [
      ...['--handler', 'sqlite', '--sqlite-url', `file:${dir}/`, '--state-dir', dir],
      ...['--listen-addr', '', '--listen-tls', `127.0.0.1:${port}`],
      ...['--listen-tls-cert-file', 'cert.pem', '--listen-tls-key-file', 'key.pem'],
      ...['--debug-addr', '-', '--telemetry', 'disable', '--test-enable-new-auth'],
      ...['--setup-database', 'admin', '--setup-username', admin.username],
      ...['--setup-password', admin.password],
    ],
    cwd: dir,
    env: process.env,
  });
  return {
    port,
    ca_file: join(dir, 'ca.pem'),
    stop: () => stopAndRemove(dir, 'mongo', 'ferretdb'),
  };
}

/** Stops what was launched in the folder, and removes the folder. */
export async function stopAndRemove(dir: string, name: string, marker: string): Promise<void> {
  await stopProcess({ dir, name, marker, log: () => undefined });
  rmSync(dir, { recursive: true, force: true });
}
