// What a session may do only shortly after its log-in, and what happens to a session that another
// log-in replaces.
import type { TestPartner } from '../harness/shared-mesh';
import {
  ageLogIns,
  consoleOf,
  joinMeshWithName,
  type Console,
  type ConsoleAnswer,
} from './people-support';
import { useMesh } from './use-mesh';

const mesh = useMesh(() => joinMeshWithName(async () => ({ PROXY_HOPS: '1' })));
let web: Console;
let partner: TestPartner;
beforeAll(async () => {
  web = consoleOf(mesh);
});
beforeEach(async () => {
  partner = await mesh.createPartner();
});

const outcome = ({ status, body }: ConsoleAnswer) => [status, body.error?.code];
const OLD = [403, 'FRESH_LOG_IN_REQUIRED'];
const KEY = { name: 'Shop', scopes: ['read'] };
const withKey = (headers = {}): Promise<ConsoleAnswer> =>
  web.ask('POST', '/session', { body: { partner_key: partner.partner_key }, headers });
const cookieOf = ({ headers }: ConsoleAnswer): string =>
  headers.get('set-cookie')?.split(';')[0] as string;

test('a session of the partner key types the key again, and its former cookie is useless', async () => {
  const first = await withKey();
  const before = web.browserOf(first);
  await ageLogIns(mesh, partner);
  expect(outcome(await before('POST', '/v1/keys', KEY))).toEqual(OLD);
  expect(outcome(await before('POST', '/webhook-secret/reveal'))).toEqual(OLD);
  expect((await before('GET', '/v1/keys')).status).toBe(200);
  const { status } = await before('PATCH', '/settings', { logo_url: null });
  expect(status).toBe(200);
  const after = web.browserOf(await withKey({ cookie: cookieOf(first) }));
  expect((await after('POST', '/v1/keys', KEY)).status).toBe(201);
  expect((await before('GET', '/session')).status).toBe(401);
  // Programs have no log-in.
  expect((await partner.call('POST', '/keys', KEY)).status).toBe(201);
});

test('a person uses the passkey again', async () => {
  const owner = await web.member(partner, 'owner');
  await ageLogIns(mesh, partner);
  const invited = { email: 'mallory@example.com', role: 'owner' };
  for (const [method, path, body] of [
    ['POST', '/v1/people', invited],
    ['PUT', '/v1/broadcast-approval', { above: 10 }],
    ['POST', '/v1/broadcasts/1/approve', undefined],
    ['POST', '/passkeys/options', undefined],
  ] as const) {
    expect([path, ...outcome(await owner.call(method, path, body))]).toEqual([path, ...OLD]);
  }
  const again = web.browserOf(await web.logIn(owner.authenticator));
  expect((await again('POST', '/v1/people', invited)).status).toBe(201);
  expect((await again('POST', '/passkeys/options')).status).toBe(200);
});
