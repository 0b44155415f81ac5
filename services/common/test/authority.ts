// A certificate authority for tests, created at run time: a private key in the repository would
// trigger secret scanners, a stored certificate would expire, and openssl is not installed on every
// machine.
import { generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Issued {
  certificate: string;
  key: string;
}

export interface Request {
  /** DNS:…, URI:… or IP:… */
  names: string[];
  not_before?: number;
  not_after?: number;
}

export interface Authority {
  certificate: string;
  issue(request: Request): Issued;
}

export interface TlsFiles {
  GRPC_TLS_CERT_FILE: string;
  GRPC_TLS_KEY_FILE: string;
  GRPC_TLS_CA_FILE: string;
}

const DAY_MS = 86_400_000;

// The subset of DER that a certificate needs.
const der = (tag: number, ...parts: Buffer[]): Buffer => {
  const content = Buffer.concat(parts);
  const short = content.length < 0x80;
  const length = short ? [content.length] : [0x82, content.length >> 8, content.length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
};
const sequence = (...parts: Buffer[]): Buffer => der(0x30, ...parts);
const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'));
const octets = (content: Buffer): Buffer => der(0x04, content);
const TRUE = der(0x01, Buffer.from([0xff]));
const utcTime = (ms: number): Buffer => {
  const digits = new Date(ms).toISOString().replace(/\D/g, '');
  return der(0x17, Buffer.from(`${digits.slice(2, 14)}Z`));
};
const commonName = (text: string): Buffer =>
  sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from(text)))));
const ECDSA_WITH_SHA256 = sequence(oid('2a8648ce3d040302'));
/** basicConstraints, critical: marks the certificate as an authority. */
const IS_AUTHORITY = sequence(oid('551d13'), TRUE, octets(sequence(TRUE)));

const TAGS: Record<string, (value: string) => Buffer> = {
  DNS: (value) => der(0x82, Buffer.from(value)),
  URI: (value) => der(0x86, Buffer.from(value)),
  IP: (value) => der(0x87, Buffer.from(value.split('.').map(Number))),
};

function alternativeNames(names: string[]): Buffer {
  const written = names.map((name) => {
    const at = name.indexOf(':');
    const tag = TAGS[name.slice(0, at)];
    if (!tag) throw new Error(`no such kind of name: ${name}`);
    return tag(name.slice(at + 1));
  });
  return sequence(oid('551d11'), octets(sequence(...written)));
}

interface Certificate {
  subject: string;
  issuer: string;
  valid: [from: number, to: number];
  public_key: KeyObject;
  extension: Buffer;
}

function signed(what: Certificate, signer: KeyObject): string {
  const content = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ECDSA_WITH_SHA256,
    commonName(what.issuer),
    sequence(utcTime(what.valid[0]), utcTime(what.valid[1])),
    commonName(what.subject),
    what.public_key.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(what.extension)),
  );
  const signature = der(0x03, Buffer.from([0]), sign('sha256', content, signer));
  const lines = sequence(content, ECDSA_WITH_SHA256, signature)
    .toString('base64')
    .match(/.{1,64}/g);
  return `-----BEGIN CERTIFICATE-----\n${lines?.join('\n')}\n-----END CERTIFICATE-----\n`;
}

const keyPair = () => generateKeyPairSync('ec', { namedCurve: 'P-256' });

export function createAuthority(name = 'test authority'): Authority {
  const own = keyPair();
  const certificate = signed(
    {
      subject: name,
      issuer: name,
      valid: [Date.now() - DAY_MS, Date.now() + DAY_MS],
      public_key: own.publicKey,
      extension: IS_AUTHORITY,
    },
    own.privateKey,
  );
  return {
    certificate,
    issue({ names, not_before = Date.now() - DAY_MS, not_after = Date.now() + DAY_MS }) {
      const { privateKey, publicKey } = keyPair();
      return {
        key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
        certificate: signed(
          {
            subject: names[0] ?? 'unnamed',
            issuer: name,
            valid: [not_before, not_after],
            public_key: publicKey,
            extension: alternativeNames(names),
          },
          own.privateKey,
        ),
      };
    },
  };
}

/** Replaces each file atomically, as a certificate manager does. */
export function writeFiles(dir: string, { certificate, key }: Issued, authority: string): TlsFiles {
  mkdirSync(dir, { recursive: true });
  const put = (name: string, text: string): string => {
    const path = join(dir, name);
    writeFileSync(`${path}.new`, text, { mode: 0o600 });
    renameSync(`${path}.new`, path);
    return path;
  };
  return {
    GRPC_TLS_CERT_FILE: put('tls.crt', certificate),
    GRPC_TLS_KEY_FILE: put('tls.key', key),
    GRPC_TLS_CA_FILE: put('ca.crt', authority),
  };
}
