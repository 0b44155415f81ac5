// Decides whether a service's certificate has to be renewed, and issues the next one. The names and
// usages are those of the chart's templates: the first DNS name identifies the caller.
import 'reflect-metadata';
import { createPrivateKey, generateKeyPairSync, webcrypto, X509Certificate } from 'node:crypto';
import * as x509 from '@peculiar/x509';

const DAY_MS = 86_400_000;
/** A week before the alert CertificateExpiresSoon, so that a failed run can be repeated in time. */
const LEFT_AT_LEAST_MS = 21 * DAY_MS;
/** The clocks of nodes differ: a new certificate must be valid on all of them at once. */
const BACKDATED_MS = 3_600_000;
const WARN_AUTHORITY_MS = 365 * DAY_MS;

/** The contents of a Secret of the type kubernetes.io/tls, PEM. */
export type TlsData = Record<string, string>;

export interface Authority {
  /** The trusted authorities: the signing certificate first, then others during a replacement. */
  bundle: string;
  certificate: X509Certificate;
  key: webcrypto.CryptoKey;
}

/** Throws if the Secret's first certificate cannot sign: no key, another key, not a CA, expired. */
export async function readAuthority(data: TlsData, now: number): Promise<Authority> {
  const certificate = new X509Certificate(data['tls.crt'] ?? '');
  const key = createPrivateKey(data['tls.key'] ?? '');
  if (!certificate.ca) throw new Error('tls.crt is not the certificate of an authority');
  if (!certificate.checkPrivateKey(key)) {
    throw new Error('tls.key does not belong to the first certificate of tls.crt');
  }
  if (Date.parse(certificate.validTo) <= now) {
    throw new Error(`the authority expired on ${dayOf(certificate)}`);
  }
  const namedCurve = CURVES[key.asymmetricKeyDetails?.namedCurve ?? ''];
  if (!namedCurve) throw new Error('tls.key is not an EC key on P-256 or P-384');
  return {
    bundle: data['tls.crt'] as string,
    certificate,
    key: await webcrypto.subtle.importKey(
      'pkcs8',
      key.export({ type: 'pkcs8', format: 'der' }),
      { name: 'ECDSA', namedCurve },
      false,
      ['sign'],
    ),
  };
}

const CURVES: Record<string, string> = { prime256v1: 'P-256', secp384r1: 'P-384' };

/** A warning while there is time to replace the authority. */
export function authorityWarning({ certificate }: Authority, now: number): string | undefined {
  const left_ms = Date.parse(certificate.validTo) - now;
  return left_ms < WARN_AUTHORITY_MS
    ? `the authority expires on ${dayOf(certificate)}: replace it (runbook, Certificates)`
    : undefined;
}

/** Why the certificate must be replaced; undefined if it may stay. */
export function reasonToRenew(
  data: TlsData,
  names: string[],
  authority: Authority,
  now: number,
): string | undefined {
  let certificate: X509Certificate;
  let belongs: boolean;
  try {
    certificate = new X509Certificate(data['tls.crt'] ?? '');
    belongs = certificate.checkPrivateKey(createPrivateKey(data['tls.key'] ?? ''));
  } catch {
    return 'the certificate or its key is unreadable';
  }
  if (!belongs) return 'the key does not belong to the certificate';
  if (certificate.subjectAltName !== names.map((name) => `DNS:${name}`).join(', ')) {
    return 'the names differ';
  }
  if (
    !certificate.checkIssued(authority.certificate) ||
    !certificate.verify(authority.certificate.publicKey)
  ) {
    return 'another authority issued it';
  }
  if (data['ca.crt'] !== authority.bundle) return 'ca.crt differs from the authority';
  const [from, until] = [Date.parse(certificate.validFrom), Date.parse(certificate.validTo)];
  if (until <= now) return `it expired on ${dayOf(certificate)}`;
  const left_ms = until - now;
  return left_ms < Math.max((until - from) / 3, LEFT_AT_LEAST_MS)
    ? `${Math.floor(left_ms / DAY_MS)} days were left`
    : undefined;
}

/** A certificate of its own key, for clients and servers; it never outlasts the authority. */
export async function issue(
  names: string[],
  valid_days: number,
  authority: Authority,
  now: number,
): Promise<TlsData> {
  const own = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const signer = new x509.X509Certificate(authority.certificate.raw);
  const signerId = signer.getExtension(x509.SubjectKeyIdentifierExtension)?.keyId;
  const certificate = await x509.X509CertificateGenerator.create({
    subject: [{ CN: [names[0] as string] }],
    issuer: signer.subjectName,
    notBefore: new Date(now - BACKDATED_MS),
    notAfter: new Date(
      Math.min(now + valid_days * DAY_MS, Date.parse(authority.certificate.validTo)),
    ),
    publicKey: own.publicKey.export({ type: 'spki', format: 'der' }),
    signingKey: authority.key,
    signingAlgorithm: { name: 'ECDSA', hash: 'SHA-256' },
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([
        x509.ExtendedKeyUsage.serverAuth,
        x509.ExtendedKeyUsage.clientAuth,
      ]),
      new x509.SubjectAlternativeNameExtension(
        names.map((value) => ({ type: 'dns' as const, value })),
      ),
      // A bundle may hold two authorities of one name: the key ID distinguishes them.
      ...(signerId === undefined ? [] : [new x509.AuthorityKeyIdentifierExtension(signerId)]),
    ],
  });
  return {
    'tls.crt': `${certificate.toString('pem')}\n`,
    'tls.key': own.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    'ca.crt': authority.bundle,
  };
}

/** The last day of a certificate, as it is printed. */
export const dayOf = ({ validTo }: X509Certificate): string =>
  new Date(validTo).toISOString().slice(0, 10);
