// People of the console, on the wire: every row with every role, invitations, passkeys, sessions,
// and what the audit log says of them.
import { KEY_SCOPES } from '@bmg/common/keys';
import { ROLE_SCOPES, ROLES, type Role } from '@bmg/common/people';
import type { RouteDependencies } from '../../gateway/src/console/route';
import { createRoutes } from '../../gateway/src/console/routes';
import { endpoints } from '../../gateway/src/endpoints';
import { keyScopeOf, type Endpoint } from '../../gateway/src/endpoints/endpoint';
import { documentPath } from '../../gateway/src/openapi';
import { ONE } from '../harness/shared-mesh';
import { createAuthenticator } from '../testkit/authenticator';
import {
  consoleOf,
  joinMeshWithName,
  type Console,
  type ConsoleAnswer,
  type SignedIn,
} from './people-support';
import { storedTexts } from './stored';
import { useMesh, usePartner } from './use-mesh';

const UNKNOWN_WABA = '1234567890';

const mesh = useMesh(() => joinMeshWithName(async () => ({ PROXY_HOPS: '1' })));
let web: Console;
const partner = usePartner(mesh, [ONE], { name: 'Acme', rate_limit_per_sec: 100_000 });

beforeAll(async () => {
  web = consoleOf(mesh);
});

const refused = ({ status, body }: ConsoleAnswer): [number, string] => [status, body.error?.code];
const invite = async (email: string, role: Role, of = partner) =>
  (await of.call('POST', '/people', { email, role })).body;

describe('a person is allowed what the role covers, and nothing else', () => {
  const members = {} as Record<Role, SignedIn>;
  beforeAll(async () => {
    for (const role of ROLES) members[role] = await web.member(partner, role);
  });

  /** Requests of one partner are limited to 20 a second in the console. */
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

  const rows = endpoints.map(
    (endpoint) => [`${endpoint.verb} ${documentPath(endpoint)}`, endpoint] as const,
  );
  /** A request that changes nothing, even where it is allowed. */
  const harmless = ({ verb, path, scope, body }: Endpoint, role: Role): Promise<ConsoleAnswer> =>
    called(
      role,
      verb,
      `/v1${path.replace(/:\w+/g, 'none')}`,
      body ? {} : undefined,
      scope === 'number' ? { 'x-waba-id': UNKNOWN_WABA } : {},
    );

  const jsonRows = rows.filter(([, { stream }]) => !stream);
  test.each(jsonRows)('%s', (_route, endpoint) =>
    expectScoped(keyScopeOf(endpoint), (role) => harmless(endpoint, role)),
  );

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

  test('the session says so to the page', () => {
    for (const role of ROLES) {
      const { person_id, email, session } = members[role];
      const scopes = KEY_SCOPES.filter((one) => ROLE_SCOPES[role].includes(one));
      expect(session.person).toEqual({ person_id, email, role, scopes });
    }
  });
});

describe('an invitation', () => {
  test('is a link that works once, and leaves no token behind', async () => {
    const { person, invitation_url } = await invite('Grace@Example.com', 'developer');
    expect(person).toMatchObject({
      email: 'grace@example.com',
      role: 'developer',
      state: 'invited',
      invited_by: { type: 'partner_key', id: null },
      email_verified: false,
      passkeys: 0,
      passkey_added_at: null,
      last_login_at: null,
    });
    expect(invitation_url).toMatch(/^http:\/\/localhost:\d+\/dashboard\/invitation#[\w-]{43}$/);
    const token = invitation_url.split('#')[1] as string;
    const read = await web.ask('POST', '/invitation', { body: { token } });
    expect(read.body).toMatchObject({ partner_name: 'Acme', email: 'grace@example.com' });
    const accepted = await web.accept(invitation_url as string);
    expect(accepted.status).toBe(201);
    expect(accepted.headers.get('set-cookie')).toMatch(/^bmg_session=.*HttpOnly; SameSite=Strict/);
    expect(refused(await web.accept(invitation_url as string))).toEqual([401, 'UNAUTHORIZED']);
    expect((await storedTexts(mesh)).filter((text) => text.includes(token))).toEqual([]);
    const { body } = await partner.call('GET', `/people/${person.person_id}`);
    expect(body.person).toMatchObject({
      state: 'active',
      email_verified: false,
      passkeys: 1,
      passkey_added_at: expect.stringMatching(/^20/),
    });
  });

  test('is not opened by another site', async () => {
    const { invitation_url } = await invite('other-site@example.com', 'support');
    const token = invitation_url.split('#')[1] as string;
    for (const path of ['/invitation', '/invitation/options', '/session/passkey/options']) {
      const headers = { origin: 'https://evil.example' };
      const answer = await web.ask('POST', path, { body: { token }, headers });
      expect(refused(answer)).toEqual([401, 'UNAUTHORIZED']);
    }
  });

  test('attempts of one network are limited', async () => {
    const headers = { 'x-forwarded-for': '198.51.100.9' };
    const attempt = () =>
      web
        .ask('POST', '/invitation', { body: { token: 'x' }, headers })
        .then(({ status }) => status);
    const statuses = await Promise.all(Array.from({ length: 35 }, attempt));
    expect(statuses.filter((status) => status === 429)).toHaveLength(5);
  });
});

describe('a log-in with a passkey', () => {
  test('opens a session; bad input names the field and opens none', async () => {
    const { authenticator, person_id } = await web.member(partner, 'support');
    const answer = await web.logIn(authenticator);
    expect([answer.status, answer.body.person.person_id]).toEqual([201, person_id]);
    const session = await web.browserOf(answer)('GET', '/session');
    expect(session.body.person.role).toBe('support');
    for (const response of [undefined, null, 7, []]) {
      const { status, body, headers } = await web.ask('POST', '/session/passkey', {
        body: { response },
      });
      expect([status, JSON.stringify(body.error)]).toEqual([
        400,
        expect.stringContaining('response'),
      ]);
      expect(headers.get('set-cookie')).toBeNull();
    }
    const unknown = createAuthenticator(web.origin);
    unknown.create({ challenge: 'x', rp: { id: 'localhost' }, user: { id: 'x' } });
    expect(refused(await web.logIn(unknown))).toEqual([401, 'UNAUTHORIZED']);
  });
});

describe('sessions', () => {
  test('of a person end with a lower role, a removal and a suspension, at once', async () => {
    const own = await mesh.createPartner();
    const owner = await web.member(own, 'owner');
    const lowered = await web.member(own, 'developer');
    const removed = await web.member(own, 'developer');
    const state = async ({ call }: SignedIn): Promise<number> =>
      (await call('GET', '/session')).status;
    expect(await Promise.all([owner, lowered, removed].map(state))).toEqual([200, 200, 200]);
    const change = await owner.call('PATCH', `/v1/people/${lowered.person_id}`, {
      role: 'support',
    });
    expect(change.body.person.role).toBe('support');
    expect((await owner.call('DELETE', `/v1/people/${removed.person_id}`)).status).toBe(200);
    expect(await Promise.all([owner, lowered, removed].map(state))).toEqual([200, 401, 401]);
    expect(refused(await web.logIn(removed.authenticator))).toEqual([401, 'UNAUTHORIZED']);
    const { partner_id } = own;
    await mesh.operator.updatePartner({ partner_id, status: 'suspended' }, mesh.call());
    expect(await state(owner)).toBe(401);
    expect(refused(await web.logIn(owner.authenticator))).toEqual([403, 'PARTNER_SUSPENDED']);
  });

  test('are a person’s own; an owner sees and ends those of all', async () => {
    const own = await mesh.createPartner();
    const owner = await web.member(own, 'owner');
    const support = await web.member(own, 'support');
    const emails = async ({ call }: SignedIn): Promise<string[]> =>
      (await call('GET', '/sessions')).body.sessions.map((one: any) => one.email as string).sort();
    expect(await emails(support)).toEqual([support.email]);
    expect(await emails(owner)).toEqual([owner.email, support.email]);
    const { sessions } = (await owner.call('GET', '/sessions')).body;
    const idOf = (email: string): string =>
      sessions.find((one: any) => one.email === email).session_id as string;
    const end = ({ call }: SignedIn, email: string) => call('DELETE', `/sessions/${idOf(email)}`);
    expect(refused(await end(support, owner.email))).toEqual([404, 'NOT_FOUND']);
    expect((await end(owner, support.email)).status).toBe(200);
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
  expect(of('PATCH /people/{person_id}')).toMatchObject({
    target: { person_id },
    before: { role: 'support' },
    after: { role: 'billing' },
  });
  expect(of('DELETE /people/{person_id}').before).toEqual({
    email: 'audited@example.com',
    role: 'billing',
    state: 'invited',
  });
  const token = (invited.body.invitation_url as string).split('#')[1] as string;
  expect(JSON.stringify(body)).not.toContain(token);
  const mine = await own.call('GET', `/audit?limit=100&actor=${owner.person_id}`);
  expect(mine.body.records.length).toBe(6);
});
