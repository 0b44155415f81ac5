// A small mesh of processes with one certificate each: onboarding, messaging and the gateway. The
// engines are those of the test run; the upstream is the emulator.
import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, openSync, closeSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Call } from '@bmg/common/rpc';
import { unsampled } from '@bmg/common/telemetry';
import { freePort } from '@bmg/local';
import {
  createAuthority,
  writeFiles,
  type Authority,
  type Request,
  type TlsFiles,
} from '../../services/common/test/authority';
import { startEmulator, type Emulator } from '../emulator';
import { ownNames } from '../harness/world';
import { eventually } from '../testkit/eventually';

const ROOT = join(__dirname, '../..');
const HOST = '127.0.0.1';
const EXIT_LIMIT_MS = 30_000;
const CALL_LIMIT_MS = 60_000;

export type Part = 'onboarding' | 'messaging' | 'gateway';
const PARTS: Part[] = ['onboarding', 'messaging', 'gateway'];
const entryOf = (part: Part): string =>
  part === 'gateway' ? 'gateway/dist/main.js' : `services/${part}/dist/main.js`;

export interface SecureMesh {
  authority: Authority;
  base_url: string;
  env: NodeJS.ProcessEnv;
  /** host:port of a part's gRPC server. */
  address(part: Part): string;
  /** The certificate files of a caller, issued at first use. */
  files(name: string): TlsFiles;
  /** Writes a new certificate into the same files. */
  renew(name: string, request?: Partial<Request>): void;
  start(part: Part): Promise<void>;
  terminate(part: Part): Promise<void>;
  log(part: Part): string;
  metrics(part: Part): Promise<string>;
  call(): Call;
  stop(): Promise<void>;
}

export async function startSecureMesh(): Promise<SecureMesh> {
  const dir = mkdtempSync(join(tmpdir(), 'bmg-mtls-'));
  const authority = createAuthority();
  const ports = new Map<string, number>();
  for (const part of PARTS) {
    for (const name of [part, `${part}-metrics`]) ports.set(name, await freePort());
  }
  const port = (name: string): number => ports.get(name) as number;
  const emulator: Emulator = await startEmulator({ port: 0, webhook_url: `http://${HOST}:1/` });
  const made = new Map<string, TlsFiles>();
  const renew: SecureMesh['renew'] = (name, request = {}) => {
    const issued = authority.issue({ names: [`DNS:${name}`, `IP:${HOST}`], ...request });
    made.set(name, writeFiles(join(dir, 'tls', name), issued, authority.certificate));
  };
  const files = (name: string): TlsFiles => {
    if (!made.has(name)) renew(name);
    return made.get(name) as TlsFiles;
  };
  const nowhere = `${HOST}:1`;
  const env: NodeJS.ProcessEnv = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    MONGO_URL: process.env['MONGO_URL'],
    KAFKA_BROKERS: process.env['KAFKA_BROKERS'],
    REDIS_URL: process.env['REDIS_URL'],
    ...ownNames('t'),
    UPSTREAM_URL: emulator.url,
    UPSTREAM_APP_ID: 'app-local',
    UPSTREAM_APP_SECRET: 'app-secret-local',
    UPSTREAM_CONFIG_ID: 'config-local',
    ENCRYPTION_KEYRING: 'local:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=',
    KEY_PEPPER: 'secure-test-pepper',
    ALLOW_PRIVATE_URLS: 'true',
    PUBLIC_URL: `http://${HOST}:${port('gateway')}`,
    GATEWAY_HOST: HOST,
    GATEWAY_PORT: String(port('gateway')),
    GRPC_HOST: HOST,
    METRICS_HOST: HOST,
    DRAIN_MS: '0',
    ONBOARDING_ADDR: `${HOST}:${port('onboarding')}`,
    MESSAGING_ADDR: `${HOST}:${port('messaging')}`,
    TEMPLATES_ADDR: nowhere,
    BROADCASTS_ADDR: nowhere,
    NUMBER_ADMIN_ADDR: nowhere,
    WEBHOOKS_ADDR: nowhere,
    DESTINATIONS_ADDR: nowhere,
  };
  const children = new Map<Part, { child: ChildProcess; exited: Promise<void> }>();
  const logFile = (part: Part): string => join(dir, `${part}.log`);
  const start = async (part: Part): Promise<void> => {
    const output = openSync(logFile(part), 'a');
    const child = spawn(
      process.execPath,
      ['--require', '@bmg/common/telemetry/register', join(ROOT, entryOf(part))],
      {
        cwd: ROOT,
        stdio: ['ignore', output, output],
        env: {
          ...env,
          ...files(part),
          GRPC_PORT: String(port(part)),
          METRICS_PORT: String(port(`${part}-metrics`)),
        },
      },
    );
    closeSync(output);
    const exited = new Promise<void>((done) => child.once('exit', () => done()));
    children.set(part, { child, exited });
    await eventually(async () => {
      if (child.exitCode !== null)
        throw new Error(`${part} ended:\n${readFileSync(logFile(part), 'utf8').slice(-2_000)}`);
      return (await fetch(`http://${HOST}:${port(`${part}-metrics`)}/readyz`)).ok;
    });
  };
  const terminate = async (part: Part): Promise<void> => {
    const running = children.get(part);
    if (!running) return;
    children.delete(part);
    running.child.kill('SIGTERM');
    const late = setTimeout(() => running.child.kill('SIGKILL'), EXIT_LIMIT_MS);
    await running.exited;
    clearTimeout(late);
  };
  const stop = async (): Promise<void> => {
    await Promise.all(PARTS.map(terminate));
    await emulator.close();
    rmSync(dir, { recursive: true, force: true });
  };
  try {
    await Promise.all(PARTS.map(start));
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    authority,
    base_url: `${env['PUBLIC_URL']}/v1`,
    env,
    address: (part) => `${HOST}:${port(part)}`,
    files,
    renew,
    start,
    terminate,
    log: (part) => readFileSync(logFile(part), 'utf8'),
    metrics: async (part) =>
      (await fetch(`http://${HOST}:${port(`${part}-metrics`)}/metrics`)).text(),
    call: () => ({
      deadline: Date.now() + CALL_LIMIT_MS,
      span: unsampled(),
      request_id: randomUUID(),
    }),
    stop,
  };
}
