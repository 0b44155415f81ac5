// A process's certificate, key and authority for gRPC. The files are looked at every few seconds, so that a
// certificate is renewed without a restart: connections made from then on use it. An expired one is never
// shown to anybody: calls then fail at once as "not available", in both directions, until it is renewed.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { ConfigError, processTls, type TlsSettings } from '../config';
import { metrics, type Logger } from '../telemetry';

export interface Identity {
  certificate: Buffer;
  key: Buffer;
  authority: Buffer;
}

export interface Certificates {
  /** Null while there is none that is valid. */
  current(): Identity | null;
  /** Told the present identity soon, and each later one; answers how to stop listening. */
  listen(listener: (identity: Identity | null) => void): () => void;
  /** Where to say what happens to the certificate. */
  report(log: Logger): void;
}

const LOOK_EVERY_MS = 2_000;
/** A renewal by a certificate manager comes long before this. */
const WARN_BEFORE_MS = 3 * 86_400_000;

interface Read extends Identity {
  subject: string;
  expires_at: number;
  authority_expires_at: number;
}

export function openCertificates(
  files: Required<{ [K in keyof TlsSettings]: string }>,
  options: { look_every_ms?: number; now?: () => number } = {},
): Certificates {
  const { look_every_ms = LOOK_EVERY_MS, now = Date.now } = options;
  const listeners = new Set<(identity: Identity | null) => void>();
  const logs = new Set<Logger>();
  let read = readIdentity(files);
  let told: Read | null = null;
  let said = '';

  const usable = (): Read | null => (isValid(read, now()) ? read : null);
  /** Once for every change of what there is to say. */
  const say = (level: 'info' | 'warn' | 'error', message: string, facts: object = {}): void => {
    const line = `${message} ${JSON.stringify(facts)}`;
    if (line === said) return;
    said = line;
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
      say('error', 'the gRPC certificate has expired: no calls until it is renewed', facts);
    else if (left_ms < WARN_BEFORE_MS) say('warn', 'the gRPC certificate expires soon', facts);
    else say('info', 'gRPC certificate', facts);
  };
  const look = (): void => {
    try {
      read = readIdentity(files, read);
      describe();
    } catch (error) {
      // Half of a change, as a rule: the rest of it is there at the next look.
      say('warn', 'the gRPC certificate cannot be read: the one before stays', {
        reason: reasonOf(error),
      });
    }
    const identity = usable();
    if (identity === told) return;
    told = identity;
    for (const listener of listeners) listener(identity);
  };

  told = usable();
  setInterval(look, look_every_ms).unref();
  return {
    current: usable,
    listen(listener) {
      listeners.add(listener);
      process.nextTick(() => listeners.has(listener) && listener(usable()));
      return () => listeners.delete(listener);
    },
    report(log) {
      logs.add(log);
      said = '';
      describe();
    },
  };
}

const isValid = ({ expires_at, authority_expires_at }: Read, at: number): boolean =>
  at < expires_at && at < authority_expires_at;

/** Answers `before` itself where nothing has changed. */
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

/** While authorities change, a bundle holds the old and the new one: it is good as long as one of them. */
function certificatesIn(bundle: Buffer): X509Certificate[] {
  const found = String(bundle).match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g);
  if (!found) throw new Error('the authority’s file holds no certificate');
  return found.map((pem) => new X509Certificate(pem));
}

const reasonOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

const opened = new Map<string, Certificates>();

/** Those of this process; undefined where gRPC is plain text. */
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
        `${GRPC_TLS_CERT_FILE} is no certificate to start with: ${reasonOf(error)}`,
      ]);
    }
    opened.set(name, found);
  }
  return found;
}
