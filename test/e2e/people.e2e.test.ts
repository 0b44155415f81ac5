// People of the console, on the wire: every row with every role, invitations, passkeys, sessions,
// and what the audit log says of them.
import { ROLE_SCOPES, ROLES, type Role } from '@bmg/common/people';
import type { RouteDependencies } from '../../gateway/src/console/route';
import { createRoutes } from '../../gateway/src/console/routes';
import { keyScopeOf, type Endpoint } from '../../gateway/src/endpoints/endpoint';
import { ONE } from '../harness/shared-mesh';
import { harmless, ROWS } from './endpoint-rows';
import {
  ageLogIns,
  refused,
  useConsole,
  type ConsoleAnswer,
  type SignedIn,
} from './people-support';
import { storedTexts } from './stored';
import { usePartner } from './use-mesh';

const { mesh, web } = useConsole();
const partner = usePartner(mesh, [ONE], { name: 'Acme', rate_limit_per_sec: 100_000 });

const invite = async (email: string, role: Role, of = partner) =>
  (await of.call('POST', '/people', { email, role })).body;

describe('a person is allowed what the role covers, and nothing else', () => {
  const members = {} as Record<Role, SignedIn>;
  beforeAll(async () => {
    for (const role of ROLES) members[role] = await web.member(partner, role);
  });

  /** The console takes 60 requests a second of one partner. */
  async function called(role: Role, method: string, path: string, body?: object, headers = {}) {
    for (;;) {
      const answer = await members[role].call(method, path, body, headers);
      if (answer.status !== 429) return answer;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }

  async function expectScoped(
    needed: string,
    call: (role: Role) => Promise<ConsoleAnswer>,
  ): Promise<void> {
    for (const role of ROLES) {
      const { status, body } = await call(role);
      const found = [role, status, body.error?.code, body.error?.details];
      if ((ROLE_SCOPES[role] as readonly string[]).includes(needed)) {
        expect([role, body.error?.code]).not.toEqual([role, 'SCOPE_MISSING']);
      } else expect(found).toEqual([role, 403, 'SCOPE_MISSING', { scope: needed }]);
    }
  }

  const jsonRows = ROWS.filter(([, { stream }]) => !stream);
  test.each(jsonRows)('%s', (_route, endpoint) => {
    const { path, body, headers } = harmless(endpoint);
    return expectScoped(keyScopeOf(endpoint), (role) =>
      called(role, endpoint.verb, `/v1${path}`, body, headers),
    );
  });

  // Only their options are read: no row runs here.
  const routes = createRoutes({ public_url: '' } as RouteDependencies)
    .filter((route) => !route.open && !route.any_scope && route.path !== '/events/stream')
    .map((route) => [`${route.verb.toUpperCase()} ${route.path}`, route] as const);
  test.each(routes)('the console’s own %s', (_name, route) => {
    const verb = route.verb.toUpperCase() as Endpoint['verb'];
    const path = route.path.replace(/:\w+/g, 'none');
    return expectScoped(keyScopeOf({ ...route, verb }), (role) =>
      called(role, verb, path, route.body ? { nothing: 'known' } : undefined),
    );
  });

  test('the stream of events', () =>
    expectScoped('read', (role) => called(role, 'GET', '/events/stream?after=x')));
});

test('an invitation is a link that works once, and leaves no token behind', async () => {
  const { person, invitation_url } = await invite('Grace@Example.com', 'developer');
  expect(person).toMatchObject({ email: 'grace@example.com', state: 'invited', passkeys: 0 });
  expect(invitation_url).toMatch(/^http:\/\/localhost:\d+\/dashboard\/invitation#[\w-]{43}$/);
  const token = invitation_url.split('#')[1] as string;
  const read = await web.ask('POST', '/invitation', { body: { token } });
  expect(read.body).toMatchObject({ partner_name: 'Acme', email: 'grace@example.com' });
  const accepted = await web.accept(invitation_url as string);
  expect(accepted.headers.get('set-cookie')).toMatch(/^bmg_session=.*HttpOnly; SameSite=Strict/);
  expect(refused(await web.accept(invitation_url as string))).toEqual([401, 'UNAUTHORIZED']);
  expect((await storedTexts(mesh)).filter((text) => text.includes(token))).toEqual([]);
  const { body } = await partner.call('GET', `/people/${person.person_id}`);
  expect(body.person).toMatchObject({ state: 'active', passkeys: 1 });
});

test('a log-in with a passkey opens a session; bad input names the field and opens none', async () => {
  const { authenticator, person_id } = await web.member(partner, 'support');
  const answer = await web.logIn(authenticator);
  expect([answer.status, answer.body.person.person_id]).toEqual([201, person_id]);
  const session = await web.browserOf(answer)('GET', '/session');
  expect(session.body.person.role).toBe('support');
  const bad = await web.ask('POST', '/session/passkey', { body: { response: 7 } });
  expect([bad.status, bad.body.error.details]).toEqual([400, { field: 'response' }]);
  expect(bad.headers.get('set-cookie')).toBeNull();
});

describe('what needs a recent log-in', () => {
  const OLD = [403, 'FRESH_LOG_IN_REQUIRED'];

  test('a session of the partner key types the key again, and its former cookie is useless', async () => {
    const own = await mesh.createPartner();
    const key = { name: 'Shop', scopes: ['read'] };
    const withKey = (headers = {}): Promise<ConsoleAnswer> =>
      web.ask('POST', '/session', { body: { partner_key: own.partner_key }, headers });
    const first = await withKey();
    const before = web.browserOf(first);
    await ageLogIns(mesh, own);
    expect(refused(await before('POST', '/v1/keys', key))).toEqual(OLD);
    expect(refused(await before('POST', '/webhook-secret/reveal'))).toEqual(OLD);
    expect((await before('GET', '/v1/keys')).status).toBe(200);
    expect((await before('PATCH', '/settings', { logo_url: null })).status).toBe(200);
    const cookie = first.headers.get('set-cookie')?.split(';')[0];
    const after = web.browserOf(await withKey({ cookie }));
    expect((await after('POST', '/v1/keys', key)).status).toBe(201);
    expect((await before('GET', '/session')).status).toBe(401);
    // Programs have no log-in.
    expect((await own.call('POST', '/keys', key)).status).toBe(201);
  });

  test('a person uses the passkey again', async () => {
    const own = await mesh.createPartner();
    const owner = await web.member(own, 'owner');
    await ageLogIns(mesh, own);
    const invited = { email: 'mallory@example.com', role: 'owner' };
    expect(refused(await owner.call('POST', '/v1/people', invited))).toEqual(OLD);
    expect(refused(await owner.call('POST', '/passkeys/options'))).toEqual(OLD);
    const again = web.browserOf(await web.logIn(owner.authenticator));
    expect((await again('POST', '/v1/people', invited)).status).toBe(201);
    expect((await again('POST', '/passkeys/options')).status).toBe(200);
  });
});

describe('sessions', () => {
  test('of a person end with a lower role, a removal and a suspension, at once', async () => {
    const own = await mesh.createPartner();
    const owner = await web.member(own, 'owner');
    const lowered = await web.member(own, 'developer');
    const removed = await web.member(own, 'developer');
    const states = () =>
      Promise.all(
        [owner, lowered, removed].map(async ({ call }) => (await call('GET', '/session')).status),
      );
    expect(await states()).toEqual([200, 200, 200]);
    await owner.call('PATCH', `/v1/people/${lowered.person_id}`, { role: 'support' });
    await owner.call('DELETE', `/v1/people/${removed.person_id}`);
    expect(await states()).toEqual([200, 401, 401]);
    const { partner_id } = own;
    await mesh.operator.updatePartner({ partner_id, status: 'suspended' }, mesh.call());
    expect(await states()).toEqual([401, 401, 401]);
    expect(refused(await web.logIn(owner.authenticator))).toEqual([403, 'PARTNER_SUSPENDED']);
  });

  test('are a person’s own; an owner sees and ends those of all', async () => {
    const own = await mesh.createPartner();
    const owner = await web.member(own, 'owner');
    const support = await web.member(own, 'support');
    const sessionsOf = async ({ call }: SignedIn) =>
      (await call('GET', '/sessions')).body.sessions as Array<{
        session_id: string;
        email: string;
      }>;
    expect(await sessionsOf(support)).toMatchObject([{ email: support.email }]);
    const all = await sessionsOf(owner);
    expect(all).toHaveLength(2);
    const end = ({ call }: SignedIn, { email: of }: SignedIn) =>
      call('DELETE', `/sessions/${all.find(({ email }) => email === of)?.session_id}`);
    expect(refused(await end(support, owner))).toEqual([404, 'NOT_FOUND']);
    expect((await end(owner, support)).status).toBe(200);
    expect((await support.call('GET', '/session')).status).toBe(401);
    expect((await owner.call('DELETE', '/sessions')).status).toBe(200);
    expect((await owner.call('GET', '/session')).status).toBe(401);
  });
});

test('people of another partner are unknown', async () => {
  const { person_id } = await web.member(partner, 'support');
  const other = await mesh.createPartner();
  for (const [method, body] of [
    ['GET', undefined],
    ['PATCH', { role: 'billing' }],
    ['DELETE', undefined],
  ] as const) {
    const answer = await other.call(method, `/people/${person_id}`, body);
    expect([answer.status, answer.body.error.code]).toEqual([404, 'NOT_FOUND']);
  }
});

test('the audit log names the person, in the console and in its API, and holds no secret', async () => {
  const own = await mesh.createPartner();
  const owner = await web.member(own, 'owner');
  await web.logIn(owner.authenticator);
  const invited = await owner.call('POST', '/v1/people', {
    email: 'audited@example.com',
    role: 'support',
  });
  const { person_id } = invited.body.person;
  await owner.call('PATCH', `/v1/people/${person_id}`, { role: 'billing' });
  await owner.call('POST', '/webhook-secret/reveal');
  await owner.call('DELETE', `/v1/people/${person_id}`);
  const { body } = await own.call('GET', '/audit?limit=100');
  const actor = { type: 'person', id: owner.person_id, name: owner.email };
  const of = (action: string) => body.records.find((one: any) => one.action === action);
  for (const action of [
    'console POST /invitation/accept',
    'console POST /session/passkey',
    'POST /people',
    'PATCH /people/{person_id}',
    'console POST /webhook-secret/reveal',
    'DELETE /people/{person_id}',
  ]) {
    expect(of(action)).toMatchObject({ actor, outcome: 'succeeded' });
  }
  const change = { target: { person_id }, before: { role: 'support' }, after: { role: 'billing' } };
  expect(of('PATCH /people/{person_id}')).toMatchObject(change);
  const token = (invited.body.invitation_url as string).split('#')[1] as string;
  expect(JSON.stringify(body)).not.toContain(token);
  const mine = await own.call('GET', `/audit?limit=100&actor=${owner.person_id}`);
  expect(mine.body.records.length).toBe(6);
});
