// The files of a process's gRPC identity. A process has one identity, so servers and clients read
// it here instead of getting it through every composition root. `fields.shared` validates and
// documents the settings.
import { homedir } from 'node:os';
import { join } from 'node:path';

export interface TlsSettings {
  GRPC_TLS_CERT_FILE?: string | undefined;
  GRPC_TLS_KEY_FILE?: string | undefined;
  GRPC_TLS_CA_FILE?: string | undefined;
}

export function processTls(env: NodeJS.ProcessEnv = process.env): TlsSettings {
  const { GRPC_TLS_CERT_FILE, GRPC_TLS_KEY_FILE, GRPC_TLS_CA_FILE } = env;
  return { GRPC_TLS_CERT_FILE, GRPC_TLS_KEY_FILE, GRPC_TLS_CA_FILE };
}

/** `{caller}` stands for a caller's name. */
export const DEFAULT_IDENTITIES = 'DNS:{caller}';

/** The names in certificates that identify callers. */
export const processIdentities = (env: NodeJS.ProcessEnv = process.env): string[] =>
  (env['GRPC_IDENTITIES'] ?? DEFAULT_IDENTITIES).split(',');

/** Whether callers without a certificate may use every RPC, also from other machines. */
export const allowsPlaintext = (env: NodeJS.ProcessEnv = process.env): boolean =>
  env['GRPC_ALLOW_PLAINTEXT'] === 'true';

/** Where programs of this machine's user keep their state. */
export const stateFolder = (env: NodeJS.ProcessEnv = process.env): string =>
  env['XDG_STATE_HOME'] || join(homedir(), '.local', 'state');

const LOOPBACK = /^(127\.\d+\.\d+\.\d+|localhost|\[?::1\]?)(:\d+)?$/;

/** `address` is a host, or host:port. */
export const isLoopback = (address: string): boolean => LOOPBACK.test(address);
