// A small mesh of processes with one certificate each: onboarding, messaging and the gateway. The
// engines are those of the test run; the upstream is the emulator.
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Call } from '@bmg/common/rpc';
import { unsampled } from '@bmg/common/telemetry';
import {
  down,
  findProcess,
  freePorts,
  launch,
  meshSettings,
  NODE_FLAGS,
  processEnv,
  settingPrefix,
} from '@bmg/local';
import {
  createAuthority,
  writeFiles,
  type Authority,
  type Request,
  type TlsFiles,
} from '../../services/common/test/authority';
import { startEmulator } from '../emulator';
import { processesIn } from '../harness/process-mesh';
import { ownNames } from '../harness/world';
import { eventually } from '../testkit/eventually';

const ROOT = join(__dirname, '../..');
const HOST = '127.0.0.1';
const CALL_LIMIT_MS = 60_000;

const PARTS = ['onboarding', 'messaging', 'gateway'] as const;
export type Part = (typeof PARTS)[number];

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
  const emulator = await startEmulator({ port: 0, webhook_url: `http://${HOST}:1/` });
  const { PATH, HOME, MONGO_URL, KAFKA_BROKERS, REDIS_URL } = process.env;
  const engines = { MONGO_URL, KAFKA_BROKERS, REDIS_URL };
  // Nothing listens at the addresses of the other services.
  const settings = meshSettings({
    ...{ ...engines, ...ownNames('t'), ...(await freePorts()) },
    UPSTREAM_URL: emulator.url,
  });
  const env = { PATH, HOME, DRAIN_MS: '0', SEND_JOURNAL_DIR: dir };
  const processes = processesIn(dir, env);
  const made = new Map<string, TlsFiles>();
  const renew: SecureMesh['renew'] = (name, request = {}) => {
    const issued = authority.issue({ names: [`DNS:${name}`, `IP:${HOST}`], ...request });
    made.set(name, writeFiles(join(dir, 'tls', name), issued, authority.certificate));
  };
  const files = (name: string): TlsFiles => {
    if (!made.has(name)) renew(name);
    return made.get(name) as TlsFiles;
  };
  const get = (part: Part, path: string): Promise<Response> =>
    fetch(`http://${HOST}:${settings[`${settingPrefix(part)}_METRICS_PORT`]}${path}`);
  const log = (part: Part): string => processes.logs()[part] ?? '';
  const start = async (part: Part): Promise<void> => {
    const process_of = findProcess(part);
    await launch({
      ...{ dir, name: part, command: process.execPath, cwd: ROOT },
      args: [...NODE_FLAGS, process_of.entry],
      env: { ...processEnv(process_of, env, settings), ...files(part) },
    });
    await eventually(async () => {
      if ((await get(part, '/readyz')).ok) return true;
      throw new Error(`${part} is not ready:\n${log(part).slice(-2_000)}`);
    });
  };
  const stop = async (): Promise<void> => {
    await down({ dir, log: () => undefined });
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
    base_url: settings['BASE_URL'] as string,
    env: { ...env, ...settings },
    address: (part) => settings[`${settingPrefix(part)}_ADDR`] as string,
    files,
    renew,
    start,
    terminate: processes.terminate,
    log,
    metrics: async (part) => (await get(part, '/metrics')).text(),
    call: () => ({
      deadline: Date.now() + CALL_LIMIT_MS,
      span: unsampled(),
      request_id: randomUUID(),
    }),
    stop,
  };
}
