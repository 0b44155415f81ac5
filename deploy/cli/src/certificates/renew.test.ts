// The renewal against a server that behaves like the Kubernetes API, and as a process.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAuthority } from '../../../../services/common/test/authority';
import { runBmg, type Ran } from '../../../../test/testkit/bmg';
import { makeAuthority } from '../../test/authority';
import { startSecretsServer, type SecretsServer } from '../../test/secrets-server';
import { issue, readAuthority, reasonToRenew, type TlsData } from './certificate';
import { renewCertificates, type Report } from './renew';
import { openSecretsApi } from './secrets-api';

const DAY_MS = 86_400_000;
const dir = mkdtempSync(join(tmpdir(), 'bmg-renew-'));
afterAll(() => rmSync(dir, { recursive: true }));

let server: SecretsServer;
let authority: TlsData;

const namesOf = (service: string): string[] => [
  service,
  `bmg-${service}`,
  `bmg-${service}.messaging.svc`,
];
const secretOf = (service: string): string => `bmg-${service}-tls`;

/** Stores a certificate that was issued that many days ago, for 90 days. */
async function give(service: string, age_days: number, signer = authority): Promise<void> {
  const then = Date.now() - age_days * DAY_MS;
  const data = await issue(namesOf(service), 90, await readAuthority(signer, then), then);
  server.put(secretOf(service), data);
}

const isSound = async (service: string): Promise<boolean> => {
  const signer = await readAuthority(server.get('bmg-mtls-ca'), Date.now());
  return (
    reasonToRenew(server.get(secretOf(service)), namesOf(service), signer, Date.now()) === undefined
  );
};

async function renewed(...services: string[]): Promise<Report> {
  const api = openSecretsApi(server.folder, server.env);
  try {
    return await renewCertificates(api, { release: 'bmg', services, valid_days: 90 });
  } finally {
    await api.close();
  }
}

const run = (args: string[]): Promise<Ran> =>
  runBmg([...args, '--release', 'bmg', '--service-account', server.folder], server.env);

beforeEach(async () => {
  server = await startSecretsServer(dir);
  authority = await makeAuthority();
  server.put('bmg-mtls-ca', authority);
});
afterEach(() => server.stop());

test('renews certificates that expire soon, keeps the others, and does nothing the next time', async () => {
  await give('gateway', 70.5);
  await give('messaging', 5);
  server.put(secretOf('gateway'), { ...server.get(secretOf('gateway')), note: 'of an operator' });
  const kept = server.get(secretOf('messaging'));
  const { outcomes, warning } = await renewed('gateway', 'messaging');
  expect(outcomes).toMatchObject([
    { service: 'gateway', result: 'renewed', reason: '19 days were left' },
    { service: 'messaging', result: 'kept', reason: null },
  ]);
  expect(warning).toBeNull();
  expect(server.get(secretOf('messaging'))).toEqual(kept);
  expect(server.get(secretOf('gateway'))['note']).toBe('of an operator');
  expect(await isSound('gateway')).toBe(true);
  server.requests.length = 0;
  const again = await renewed('gateway', 'messaging');
  expect(again.outcomes.map(({ result }) => result)).toEqual(['kept', 'kept']);
  expect(server.requests.filter((one) => one.startsWith('PATCH'))).toEqual([]);
});

test('keeps the certificate of a helm upgrade in between', async () => {
  await give('gateway', 70.5);
  server.beforeWrite = async () => {
    server.beforeWrite = () => undefined;
    await give('gateway', 0);
    server.put(secretOf('gateway'), { ...server.get(secretOf('gateway')), by: 'helm' });
  };
  const { outcomes } = await renewed('gateway');
  expect(outcomes).toMatchObject([{ result: 'kept' }]);
  expect(server.get(secretOf('gateway'))['by']).toBe('helm');
});

test('signs with the authority that a helm upgrade has put in the meantime', async () => {
  await give('gateway', 70.5);
  server.beforeWrite = async () => {
    server.beforeWrite = () => undefined;
    server.put('bmg-mtls-ca', await makeAuthority());
    await give('gateway', 71);
  };
  expect((await renewed('gateway')).outcomes).toMatchObject([{ result: 'renewed' }]);
  expect(await isSound('gateway')).toBe(true);
});

test('gives up on a Secret that changes each time, and renews the others', async () => {
  await give('gateway', 70.5);
  await give('messaging', 70.5);
  server.beforeWrite = (name) => (name === secretOf('gateway') ? give('gateway', 70.5) : undefined);
  const { outcomes } = await renewed('gateway', 'messaging');
  expect(outcomes).toMatchObject([
    {
      result: 'failed',
      reason: 'the Secret bmg-gateway-tls was changed by others 5 times in a row',
    },
    { result: 'renewed' },
  ]);
});

test('reads the token for each request, as the kubelet replaces it', async () => {
  await give('gateway', 70.5);
  server.beforeWrite = () => server.setToken('second-token');
  expect((await renewed('gateway', 'gateway')).outcomes).toMatchObject([
    { result: 'renewed' },
    { result: 'kept' },
  ]);
});

test('reports the failure of each service, exits with 1, and prints no key', async () => {
  await give('gateway', 70.5);
  await give('messaging', 70.5);
  await give('templates', 1);
  server.forbidden.add(secretOf('messaging'));
  const services = ['messaging', 'fanout', 'gateway', 'templates'];
  const { code, out, err } = await run(['certificates', 'renew', ...services]);
  expect([code, err]).toEqual([1, '']);
  expect(out.trimEnd().split('\n')).toEqual([
    'failed   messaging: failed to read the Secret bmg-messaging-tls: the Kubernetes API answered 403: secrets "bmg-messaging-tls" is forbidden',
    'failed   fanout: the Secret bmg-fanout-tls does not exist: helm upgrade creates it',
    expect.stringMatching(/^renewed {2}gateway: valid until \d{4}-\d\d-\d\d; 19 days were left$/),
    expect.stringMatching(/^kept {5}templates: valid until \d{4}-\d\d-\d\d$/),
  ]);
  expect(await isSound('gateway')).toBe(true);
  const next = await run(['--json', 'certificates', 'renew', 'gateway', 'templates']);
  expect([next.code, next.err]).toEqual([0, '']);
  expect(JSON.parse(next.out)).toMatchObject({
    outcomes: [{ result: 'kept' }, { result: 'kept' }],
  });
});

test('warns of an authority in its last year', async () => {
  server.put('bmg-mtls-ca', (authority = await makeAuthority({ days: 200 })));
  await give('gateway', 0);
  const { outcomes, warning } = await renewed('gateway');
  expect(outcomes).toMatchObject([{ result: 'kept' }]);
  expect(warning).toMatch(/^the authority expires on \d{4}-\d\d-\d\d: replace it/);
});

test.each<[string, () => Promise<void> | void, RegExp]>([
  [
    'an authority that cannot sign',
    async () => server.put('bmg-mtls-ca', await makeAuthority({ ca: false })),
    /^the Secret bmg-mtls-ca holds no usable authority: tls\.crt is not the certificate/,
  ],
  [
    'no right to the authority',
    () => void server.forbidden.add('bmg-mtls-ca'),
    /^failed to read the Secret bmg-mtls-ca: the Kubernetes API answered 403: secrets "bmg-/,
  ],
  [
    'a token that the API refuses',
    () => writeFileSync(join(server.folder, 'token'), 'stale'),
    /^failed to read the Secret bmg-mtls-ca: the Kubernetes API answered 401: Unauthorized/,
  ],
])('changes nothing with %s', async (_name, spoil, reason) => {
  await give('gateway', 70.5);
  const before = server.get(secretOf('gateway'));
  await spoil();
  await expect(renewed('gateway')).rejects.toThrow(reason);
  expect(server.get(secretOf('gateway'))).toEqual(before);
});

test('sends its token to no server that another authority vouches for', async () => {
  await give('gateway', 70.5);
  writeFileSync(join(server.folder, 'ca.crt'), createAuthority('another cluster').certificate);
  await expect(renewed('gateway')).rejects.toThrow(
    /^the Kubernetes API does not answer at https:\/\/127\.0\.0\.1:\d+: [A-Z_]*(SIGNATURE|CERT)/,
  );
  expect(server.requests).toEqual([]);
});

test('refuses to run outside a cluster, and for days that the chart refuses', async () => {
  expect(() => openSecretsApi(server.folder, {})).toThrow(
    /^KUBERNETES_SERVICE_HOST is not set: run/,
  );
  const { code, err } = await run(['certificates', 'renew', 'gateway', '--valid-days', '29']);
  expect(code).toBe(2);
  expect(err).toMatch(/between 30 and 730/);
});
