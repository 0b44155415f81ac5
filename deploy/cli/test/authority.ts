// An authority as helm makes it: a P-256 key in the form that OpenSSL calls EC PRIVATE KEY, and a
// subject key identifier.
import 'reflect-metadata';
import { KeyObject, webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import type { TlsData } from '../src/certificates/certificate';

const DAY_MS = 86_400_000;

export async function makeAuthority(
  options: { days?: number; now?: number; ca?: boolean } = {},
): Promise<TlsData> {
  const { days = 3_650, now = Date.now(), ca = true } = options;
  const keys = await webcrypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, [
    'sign',
    'verify',
  ]);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=bmg-mtls-ca',
    notBefore: new Date(now - DAY_MS),
    notAfter: new Date(now + days * DAY_MS),
    keys,
    signingAlgorithm: { name: 'ECDSA', hash: 'SHA-256' },
    extensions: [
      new x509.BasicConstraintsExtension(ca, undefined, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return {
    'tls.crt': `${certificate.toString('pem')}\n`,
    'tls.key': KeyObject.from(keys.privateKey).export({ type: 'sec1', format: 'pem' }).toString(),
  };
}
