// The process's certificate, key and authority for gRPC. The files are checked every few seconds,
// so that a renewal needs no restart: new connections use it. An expired certificate is never
// presented; until it is renewed, calls in both directions fail at once with UNAVAILABLE.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { ConfigError, processTls, type TlsSettings } from '../config';
import { metrics, type Logger } from '../telemetry';

export interface Identity {
  certificate: Buffer;
  key: Buffer;
  authority: Buffer;
}

export type Certificates = ReturnType<typeof openCertificates>;

const LOOK_EVERY_MS = 2_000;
/** A certificate manager renews long before this. */
const WARN_BEFORE_MS = 3 * 86_400_000;

interface Read extends Identity {
  subject: string;
  expires_at: number;
  authority_expires_at: number;
}

export function openCertificates(
  files: Required<{ [K in keyof TlsSettings]: string }>,
  {
    look_every_ms = LOOK_EVERY_MS,
    now = Date.now,
  }: { look_every_ms?: number; now?: () => number } = {},
) {
  const listeners = new Set<(identity: Identity | null) => void>();
  const logs = new Set<Logger>();
  let read = readIdentity(files);
  let notified: Read | null = null;
  let last_logged = '';

  const usable = (): Read | null => (isValid(read, now()) ? read : null);
  /** Logs each message once until the facts change. */
  const say = (level: 'info' | 'warn' | 'error', message: string, facts: object = {}): void => {
    const line = `${message} ${JSON.stringify(facts)}`;
    if (line === last_logged) return;
    last_logged = line;
    for (const log of logs) log[level]({ file: files.GRPC_TLS_CERT_FILE, ...facts }, message);
  };
  const describe = (): void => {
    const facts = {
      subject: read.subject,
      expires_at: new Date(read.expires_at).toISOString(),
      authority_expires_at: new Date(read.authority_expires_at).toISOString(),
    };
    const left_ms = Math.min(read.expires_at, read.authority_expires_at) - now();
    if (left_ms <= 0)
      say('error', 'gRPC certificate has expired: calls fail until it is renewed', facts);
    else if (left_ms < WARN_BEFORE_MS) say('warn', 'gRPC certificate expires soon', facts);
    else say('info', 'gRPC certificate', facts);
  };
  const look = (): void => {
    try {
      read = readIdentity(files, read);
      describe();
    } catch (error) {
      // Usually a renewal in progress: complete at the next check.
      say('warn', 'failed to read gRPC certificate, keeping the previous one', {
        reason: reasonOf(error),
      });
    }
    const identity = usable();
    if (identity === notified) return;
    notified = identity;
    for (const listener of listeners) listener(identity);
  };

  notified = usable();
  setInterval(look, look_every_ms).unref();
  return {
    /** Null while the certificate is not valid. */
    current: (): Identity | null => usable(),
    /** Calls the listener with this and each later identity; returns how to unsubscribe. */
    listen(listener: (identity: Identity | null) => void): () => void {
      listeners.add(listener);
      process.nextTick(() => listeners.has(listener) && listener(usable()));
      return () => listeners.delete(listener);
    },
    /** Logs the certificate's state and its changes from now on. */
    report(log: Logger): void {
      logs.add(log);
      last_logged = '';
      describe();
    },
  };
}

const isValid = ({ expires_at, authority_expires_at }: Read, at: number): boolean =>
  at < expires_at && at < authority_expires_at;

/** Returns `before` itself if nothing has changed. */
function readIdentity(files: TlsSettings, before?: Read): Read {
  const [certificate, key, authority] = [
    files.GRPC_TLS_CERT_FILE,
    files.GRPC_TLS_KEY_FILE,
    files.GRPC_TLS_CA_FILE,
  ].map((file) => readFileSync(file as string)) as [Buffer, Buffer, Buffer];
  if (
    before?.certificate.equals(certificate) &&
    before.key.equals(key) &&
    before.authority.equals(authority)
  ) {
    return before;
  }
  const own = new X509Certificate(certificate);
  if (!own.checkPrivateKey(createPrivateKey(key))) {
    throw new Error('the key does not belong to the certificate');
  }
  const expires_at = Date.parse(own.validTo);
  const authority_expires_at = Math.max(
    ...certificatesIn(authority).map(({ validTo }) => Date.parse(validTo)),
  );
  const gauge = metrics.tls_certificate_expiry;
  gauge.set({ certificate: 'own' }, expires_at / 1_000);
  gauge.set({ certificate: 'authority' }, authority_expires_at / 1_000);
  return { certificate, key, authority, subject: own.subject, expires_at, authority_expires_at };
}

/** A bundle holds both authorities during a rotation: it is valid while one of them is. */
function certificatesIn(bundle: Buffer): X509Certificate[] {
  const found = String(bundle).match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g);
  if (!found) throw new Error('the authority file holds no certificate');
  return found.map((pem) => new X509Certificate(pem));
}

const reasonOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

const opened = new Map<string, Certificates>();

/** The certificates of this process; undefined if gRPC is plain text. */
export function certificatesFor(settings: TlsSettings = processTls()): Certificates | undefined {
  const { GRPC_TLS_CERT_FILE, GRPC_TLS_KEY_FILE, GRPC_TLS_CA_FILE } = settings;
  if (!GRPC_TLS_CERT_FILE || !GRPC_TLS_KEY_FILE || !GRPC_TLS_CA_FILE) return undefined;
  const name = [GRPC_TLS_CERT_FILE, GRPC_TLS_KEY_FILE, GRPC_TLS_CA_FILE].join('\n');
  let found = opened.get(name);
  if (!found) {
    try {
      found = openCertificates({ GRPC_TLS_CERT_FILE, GRPC_TLS_KEY_FILE, GRPC_TLS_CA_FILE });
    } catch (error) {
      throw new ConfigError([
        `${GRPC_TLS_CERT_FILE} does not hold a usable certificate: ${reasonOf(error)}`,
      ]);
    }
    opened.set(name, found);
  }
  return found;
}
