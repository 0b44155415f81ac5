// A RabbitMQ node for the tests: Debian's package, with ports, folders and users of its own.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'amqplib';
import { freePort } from '@bmg/local';
import { eventually } from '../testkit/eventually';
import { signalProcess } from '../testkit/signal-process';
import { makeCertificates } from '../testkit/secure-engines';

export const INSTALL_LIMIT_MS = 300_000;
export const START_LIMIT_MS = 120_000;
export const USERNAME = 'partner';
export const PASSWORD = 'correct-horse';
const LOG_TAIL_CHARS = 2_000;
const PROGRAM = '/usr/lib/rabbitmq/bin/rabbitmq-server';
const INSTALL_LOCK = '/tmp/bmg-install-rabbitmq.lock';
const APT = 'apt-get -o DPkg::Lock::Timeout=240 -qq';
const INSTALL = `test -x ${PROGRAM} || { ${APT} update && ${APT} install -y --no-install-recommends rabbitmq-server; }`;

/** Installs the server if it is missing; the reason if that is impossible. */
export function rabbitMqMissing(): string | undefined {
  if (existsSync(PROGRAM)) return undefined;
  try {
    execFileSync('flock', [INSTALL_LOCK, 'sh', '-c', INSTALL], {
      // In this run level, Debian does not start the node of the package.
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' },
      timeout: INSTALL_LIMIT_MS,
      stdio: 'pipe',
    });
    return undefined;
  } catch {
    return 'rabbitmq-server is not installed, and apt-get cannot install it';
  }
}

const configuration = (dir: string, port: number, port_tls: number): string =>
  [
    `listeners.tcp.local = 127.0.0.1:${port}`,
    `listeners.ssl.local = 127.0.0.1:${port_tls}`,
    `ssl_options.cacertfile = ${join(dir, 'ca.pem')}`,
    `ssl_options.certfile = ${join(dir, 'cert.pem')}`,
    `ssl_options.keyfile = ${join(dir, 'key.pem')}`,
    'ssl_options.verify = verify_none',
    `default_user = ${USERNAME}`,
    `default_pass = ${PASSWORD}`,
    'loopback_users = none',
    `max_message_size = ${64 * 1024}`,
    '',
  ].join('\n');

export type RabbitMq = Awaited<ReturnType<typeof startRabbitMq>>;

/** `start` starts the node again, with its data. */
export async function startRabbitMq() {
  const dir = mkdtempSync(join(tmpdir(), 'bmg-rabbitmq-'));
  makeCertificates(dir);
  const [port, port_tls, distribution, epmd] = [
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
  ];
  writeFileSync(join(dir, 'rabbitmq.conf'), configuration(dir, port, port_tls));
  const env = {
    ...process.env,
    HOME: dir,
    RABBITMQ_NODENAME: 'bmg@localhost',
    RABBITMQ_CONFIG_FILE: join(dir, 'rabbitmq'),
    RABBITMQ_MNESIA_BASE: join(dir, 'data'),
    RABBITMQ_LOG_BASE: join(dir, 'log'),
    RABBITMQ_LOGS: '-',
    RABBITMQ_ENABLED_PLUGINS_FILE: join(dir, 'plugins'),
    RABBITMQ_DIST_PORT: String(distribution),
    RABBITMQ_PID_FILE: join(dir, 'pid'),
    ERL_EPMD_PORT: String(epmd),
    ERL_EPMD_ADDRESS: '127.0.0.1',
  };
  const log = join(dir, 'output.log');
  let node: ChildProcess | undefined;

  /** The Erlang machine: the script above it waits for it. */
  const pid = (): number => Number(readFileSync(join(dir, 'pid'), 'utf8'));
  const start = async (): Promise<void> => {
    const output = openSync(log, 'a');
    rmSync(join(dir, 'pid'), { force: true });
    node = spawn(PROGRAM, [], { cwd: dir, env, stdio: ['ignore', output, output] });
    await eventually(async () => {
      if (node?.exitCode !== null)
        throw new Error(readFileSync(log, 'utf8').slice(-LOG_TAIL_CHARS));
      const connection = await connect({ port, username: USERNAME, password: PASSWORD });
      await connection.close();
      return true;
    }, START_LIMIT_MS);
  };
  const kill = async (): Promise<void> => {
    const ended = node;
    await signalProcess(pid(), 'SIGKILL');
    await eventually(() => ended?.exitCode !== null || ended.signalCode !== null);
  };
  await start();
  return {
    port,
    port_tls,
    /** The authority that signed its certificate, in PEM. */
    ca: readFileSync(join(dir, 'ca.pem'), 'utf8'),
    signal: (name: 'SIGSTOP' | 'SIGCONT') => signalProcess(pid(), name),
    kill,
    start,
    async stop(): Promise<void> {
      await kill();
      // Erlang's port mapper, a process of this node only because of its port.
      execFileSync('epmd', ['-port', String(epmd), '-kill'], { stdio: 'pipe' });
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
