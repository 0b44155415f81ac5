import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer, type TLSSocket } from 'node:tls';
import { namesOf } from '@bmg/common/identity';
import { makeAuthority } from '../../test/authority';
import { authorityWarning, issue, readAuthority, reasonToRenew, type TlsData } from './certificate';

const DAY_MS = 86_400_000;
const NOW = Date.now();
const namesFor = (service: string): string[] => [
  service,
  `bmg-${service}`,
  `bmg-${service}.messaging.svc`,
];
const GATEWAY = namesFor('gateway');
/** The value of GRPC_IDENTITIES in the chart. */
const IDENTITIES = ['DNS:bmg-{caller}.messaging.svc'];

const authority = async (options: Parameters<typeof makeAuthority>[0] = {}) =>
  readAuthority(await makeAuthority(options), NOW);
const certificateOf = (data: TlsData): X509Certificate =>
  new X509Certificate(data['tls.crt'] as string);

describe('a new certificate', () => {
  test('has the names of the service, its own key, and the requested validity', async () => {
    const signer = await authority();
    const data = await issue(GATEWAY, 90, signer, NOW);
    const certificate = certificateOf(data);
    expect(certificate.verify(signer.certificate.publicKey)).toBe(true);
    expect(certificate.checkIssued(signer.certificate)).toBe(true);
    expect(certificate.ca).toBe(false);
    expect(certificate.publicKey.asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' });
    // Client and server: a service is both.
    expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2']);
    expect(certificate.subjectAltName).toBe(GATEWAY.map((name) => `DNS:${name}`).join(', '));
    expect(namesOf(certificate.subjectAltName, IDENTITIES)).toEqual(['gateway']);
    expect(Math.round((Date.parse(certificate.validTo) - NOW) / DAY_MS)).toBe(90);
    // Another node's clock may be behind.
    expect(Date.parse(certificate.validFrom)).toBeLessThan(NOW - 60_000);
    expect(data['ca.crt']).toBe(signer.bundle);
    const other = await issue(GATEWAY, 90, signer, NOW);
    expect(other['tls.key']).not.toBe(data['tls.key']);
    expect(certificateOf(other).serialNumber).not.toBe(certificate.serialNumber);
  });

  test('never outlasts its authority', async () => {
    const signer = await authority({ days: 40, now: NOW });
    const certificate = certificateOf(await issue(GATEWAY, 90, signer, NOW));
    expect(certificate.validTo).toBe(signer.certificate.validTo);
  });

  test('works in a handshake of two services, before, during and after a new authority', async () => {
    // Both authorities have the same name.
    const [before, after] = [await makeAuthority(), await makeAuthority()];
    const bundle = (...parts: TlsData[]): string => parts.map((one) => one['tls.crt']).join('');
    const stages = await Promise.all([
      readAuthority(before, NOW),
      readAuthority({ ...before, 'tls.crt': bundle(before, after) }, NOW),
      readAuthority({ ...after, 'tls.crt': bundle(after, before) }, NOW),
      readAuthority(after, NOW),
    ]);
    const issued = await Promise.all(
      stages.map(async (stage) => ({
        server: await issue(namesFor('messaging'), 90, stage, NOW),
        client: await issue(GATEWAY, 90, stage, NOW),
      })),
    );
    for (const [at, { server }] of issued.entries()) {
      // A pod may be one stage ahead of another.
      for (const { client } of issued.slice(Math.max(0, at - 1), at + 2)) {
        expect(await callerSeenBy(server, client)).toEqual(['gateway']);
      }
    }
    await expect(
      callerSeenBy((issued[3] as any).server, (issued[0] as any).client), // any: both exist
    ).rejects.toThrow();
  });
});

/** The caller's names as a service sees them; rejects if either side refuses the other. */
async function callerSeenBy(server: TlsData, client: TlsData): Promise<string[]> {
  const files = (data: TlsData) => ({
    cert: data['tls.crt'],
    key: data['tls.key'],
    ca: data['ca.crt'],
  });
  const listener = createServer(
    { ...files(server), requestCert: true, rejectUnauthorized: true },
    // The client hangs up as soon as the server has seen it.
    (accepted) => accepted.on('error', () => undefined),
  );
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const seen = once(listener, 'secureConnection') as Promise<[TLSSocket]>;
  const refused = once(listener, 'tlsClientError').then(([error]) =>
    Promise.reject(error as Error),
  );
  for (const one of [seen, refused]) one.catch(() => undefined);
  const socket = connect({
    ...files(client),
    port: (listener.address() as AddressInfo).port,
    host: '127.0.0.1',
    servername: 'bmg-messaging.messaging.svc',
  });
  try {
    const failed = once(socket, 'close').then(() => Promise.reject(new Error('refused')));
    failed.catch(() => undefined);
    await Promise.race([once(socket, 'secureConnect'), failed]);
    const [accepted] = await Promise.race([seen, refused, failed]);
    return namesOf(accepted.getPeerCertificate().subjectaltname, IDENTITIES);
  } finally {
    socket.destroy();
    listener.close();
  }
}

describe('is renewed', () => {
  const UNREADABLE = 'the certificate or its key is unreadable';
  /** Another certificate for the same names. */
  const other = async (): Promise<TlsData> => issue(GATEWAY, 90, await authority(), NOW);

  test.each([
    [90, 0, undefined],
    [90, 59, undefined],
    [90, 60.5, '29 days were left'],
    [90, 90, /^it expired on \d{4}-\d\d-\d\d$/],
    [365, 240, undefined],
    [365, 244.5, '120 days were left'],
    // Well before the alert, which comes two weeks before the end.
    [30, 8, undefined],
    [30, 9.5, '20 days were left'],
  ])('valid for %d days, on day %d: %s', async (valid_days, at, reason) => {
    const signer = await authority();
    const data = await issue(GATEWAY, valid_days, signer, NOW);
    const found = reasonToRenew(data, GATEWAY, signer, NOW + at * DAY_MS);
    if (reason instanceof RegExp) expect(found).toMatch(reason);
    else expect(found).toBe(reason);
  });

  test.each<[string, (data: TlsData) => TlsData | Promise<TlsData>, string]>([
    ['is empty', () => ({}), UNREADABLE],
    ['is no certificate', (data) => ({ ...data, 'tls.crt': 'garbage' }), UNREADABLE],
    ['has no key', (data) => ({ ...data, 'tls.key': '' }), UNREADABLE],
    [
      'has another key',
      async (data) => ({
        ...data,
        'tls.key': (await other())['tls.key'] as string,
      }),
      'the key does not belong to the certificate',
    ],
    [
      'is of another authority with the same name',
      async (data) => ({
        ...(await other()),
        'ca.crt': data['ca.crt'] as string,
      }),
      'another authority issued it',
    ],
    [
      'comes with other authorities',
      (data) => ({ ...data, 'ca.crt': `${data['ca.crt']}${data['ca.crt']}` }),
      'ca.crt differs from the authority',
    ],
  ])('if it %s', async (_name, change, reason) => {
    const signer = await authority();
    const data = await change(await issue(GATEWAY, 90, signer, NOW));
    expect(reasonToRenew(data, GATEWAY, signer, NOW)).toBe(reason);
  });

  test('if its names differ, also in their order, as the first one is the caller', async () => {
    const signer = await authority();
    for (const names of [GATEWAY.slice(0, 2), [...GATEWAY].reverse(), namesFor('fanout')]) {
      const data = await issue(names, 90, signer, NOW);
      expect(reasonToRenew(data, GATEWAY, signer, NOW)).toBe('the names differ');
    }
  });
});

describe('an authority', () => {
  test.each<[string, () => Promise<TlsData>, RegExp]>([
    ['without a key', async () => ({ ...(await makeAuthority()), 'tls.key': '' }), /./],
    [
      'with another key',
      async () => ({
        ...(await makeAuthority()),
        'tls.key': (await makeAuthority())['tls.key'] as string,
      }),
      /tls\.key does not belong/,
    ],
    ['that is no authority', () => makeAuthority({ ca: false }), /not the certificate of an auth/],
    ['that has expired', () => makeAuthority({ days: 0.5, now: NOW - DAY_MS }), /expired on 2/],
  ])('%s signs nothing', async (_name, make, reason) => {
    await expect(make().then((data) => readAuthority(data, NOW))).rejects.toThrow(reason);
  });

  test('warns in its last year', async () => {
    expect(authorityWarning(await authority({ days: 400 }), NOW)).toBeUndefined();
    expect(authorityWarning(await authority({ days: 300 }), NOW)).toMatch(/expires on \d{4}-/);
  });
});
