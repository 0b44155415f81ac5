// Admission: a key that is refused takes no token from any bucket and is looked up once.
import { createLookUps } from '../auth/look-ups';
import { ROOM } from '../../test/room';
import { createAuthenticator } from '../auth/authenticate';
import type {
  AuthenticateManyRequest,
  AuthenticateManyResponse,
  KeyRestriction,
} from '@bmg/proto/onboarding';
import { createKey, createPeppers, PARTNER_KEY_PREFIX } from '@bmg/common/keys';
import { rateLimitResult, versionOnly, type Bucket, createMemoryBucket } from '../limits/bucket';
import type { Endpoint } from '../endpoints/endpoint';
import { admit, CONNECT_TOKEN_PER_SEC, type AdmitDependencies } from './admit';

const RATE = 10;
const KEY = createKey(PARTNER_KEY_PREFIX);
const ROW = { scope: 'partner', verb: 'POST' } as Endpoint;

/** Like the script in Redis: takes nothing if the version differs. */
function createBucket() {
  const taken: Record<string, number> = {};
  const state = { version: 'one', taken };
  const bucket: Bucket = {
    async take(name, rate, cost, at_version) {
      const takes = cost > 0 && (at_version === undefined || at_version === state.version);
      if (!takes) return versionOnly(rate, state.version);
      taken[name] = (taken[name] ?? 0) + 1;
      return rateLimitResult(
        rate - (taken[name] ?? 0),
        rate,
        (taken[name] ?? 0) <= rate,
        state.version,
      );
    },
  };
  return { bucket, state };
}

function setUp(instead?: Bucket) {
  const { bucket: shared, state } = createBucket();
  const bucket = instead ?? shared;
  const valid = new Set<string>();
  const state_of_key: { restriction?: KeyRestriction } = {};
  const authenticate = jest.fn((key_hash: string): AuthenticateManyResponse['callers'] => {
    valid.add(valid.size === 0 ? key_hash : '');
    if (!valid.has(key_hash)) return {};
    const caller = { partner_id: 'p', rate_limit_per_sec: RATE, status: 'active' };
    const restriction = state_of_key.restriction && { restriction: state_of_key.restriction };
    return { [key_hash]: { ...caller, ...restriction } };
  });
  const authenticateMany = async ({ key_hashes }: AuthenticateManyRequest) => ({
    callers: Object.assign({}, ...key_hashes.map(authenticate)) as object,
  });
  const authenticateSession = jest.fn(async () => ({ partner_id: 'p', session_id: 's' }));
  const look_ups = createLookUps(ROOM);
  const deps = {
    authenticator: createAuthenticator(
      { authenticateMany } as never,
      createPeppers('pepper'),
      look_ups,
      { renew: () => undefined },
    ),
    sessions: { hashes: (token: string) => [token], find: authenticateSession },
    bucket,
  } as unknown as AdmitDependencies;
  const headers: Record<string, string> = {};
  const request = (given: Record<string, string>, row = ROW) => {
    const context = {
      state: { call: {} },
      ip: '192.0.2.1',
      get: (name: string) => given[name] ?? '',
      set: (name: string, value: string) => (headers[name] = value),
    };
    return admit(context as never, row, deps);
  };
  return { request, state, state_of_key, valid, authenticate, authenticateSession, headers };
}

const limits = (given: Partial<KeyRestriction> = {}): KeyRestriction => ({
  key_id: 'key_1',
  scopes: ['manage'],
  waba_ids: [],
  addresses: [],
  ...given,
});
/** The first request finds the bucket, then the version under which its caller is cached. */
const FIRST_LOOK_UPS = 2;

test.each([
  ['the partner key', {}],
  ['an API key', { restriction: limits() }],
])('takes one token of the partner for each request with %s', async (_name, given) => {
  const { request, state, state_of_key, authenticate, headers } = setUp();
  Object.assign(state_of_key, given);
  for (let count = 1; count <= RATE; count += 1) {
    const admitted = await request({ 'x-partner-key': KEY });
    expect(admitted).toMatchObject({ partner_id: 'p', rate_limit: { allowed: true }, ...given });
    expect(state.taken).toEqual({ p: count });
  }
  expect(headers).toMatchObject({ 'RateLimit-Limit': '10', 'RateLimit-Remaining': '0' });
  expect(authenticate).toHaveBeenCalledTimes(FIRST_LOOK_UPS);
});

test('a rotated key is refused, and takes nothing from the bucket of its partner', async () => {
  const { request, state, valid, authenticate } = setUp();
  await request({ 'x-partner-key': KEY });
  valid.clear();
  valid.add('another key');
  state.version = 'two';
  authenticate.mockClear();
  for (let time = 0; time < 100; time += 1) {
    await expect(request({ 'x-partner-key': KEY })).rejects.toMatchObject({
      code: 'INVALID_PARTNER_KEY',
    });
  }
  expect(state.taken['p']).toBe(1);
  expect(authenticate).toHaveBeenCalledTimes(1);
});

test('a change of the partner costs one more look-up and no more tokens', async () => {
  const { request, state, authenticate } = setUp();
  await request({ 'x-partner-key': KEY });
  state.version = 'two';
  authenticate.mockClear();
  await request({ 'x-partner-key': KEY });
  await request({ 'x-partner-key': KEY });
  expect(state.taken['p']).toBe(3);
  expect(authenticate).toHaveBeenCalledTimes(1);
});

test('a connect token has a bucket of its own, and takes from it before its session is looked up', async () => {
  const { request, state, authenticateSession } = setUp();
  const row = { scope: 'session' } as Endpoint;
  for (let count = 0; count < CONNECT_TOKEN_PER_SEC; count += 1) {
    expect(await request({ 'x-connect-token': 't' }, row)).toMatchObject({ session_id: 's' });
  }
  await expect(request({ 'x-connect-token': 't' }, row)).rejects.toMatchObject({
    code: 'RATE_LIMIT_EXCEEDED',
  });
  expect(authenticateSession).toHaveBeenCalledTimes(CONNECT_TOKEN_PER_SEC);
  expect(state.taken).toEqual({ 'connect:t': CONNECT_TOKEN_PER_SEC + 1 });
});

test('the limit holds while no version is known, as while Redis is unreachable', async () => {
  const { request } = setUp(createMemoryBucket(() => 0));
  const allowed: boolean[] = [];
  for (let count = 0; count < 3 * RATE; count += 1) {
    allowed.push((await request({ 'x-partner-key': KEY })).rate_limit.allowed);
  }
  expect(allowed.filter(Boolean)).toHaveLength(RATE);
});

describe('an API key', () => {
  const withKey = { 'x-partner-key': KEY };

  test.each([
    ['SCOPE_MISSING', { scopes: ['read'] }],
    ['ADDRESS_NOT_ALLOWED', { addresses: ['198.51.100.0/24'] }],
  ])('is refused with %s, and takes nothing', async (code, given) => {
    const { request, state, state_of_key, authenticate } = setUp();
    state_of_key.restriction = limits(given);
    for (let time = 0; time < 100; time += 1) {
      await expect(request(withKey)).rejects.toMatchObject({ code });
    }
    expect(state.taken).toEqual({});
    expect(authenticate).toHaveBeenCalledTimes(FIRST_LOOK_UPS);
  });

  test('is refused or admitted as it is now, not as it was cached', async () => {
    const { request, state, state_of_key } = setUp();
    state_of_key.restriction = limits();
    await request(withKey);
    state.version = 'two';
    state_of_key.restriction = limits({ scopes: ['read'] });
    await expect(request(withKey)).rejects.toMatchObject({ code: 'SCOPE_MISSING' });
    expect(state.taken['p']).toBe(1);
    state.version = 'three';
    state_of_key.restriction = limits();
    await request(withKey);
    expect(state.taken['p']).toBe(2);
  });

  test('is refused once it has expired, although it is cached', async () => {
    const { request, state, state_of_key } = setUp();
    const now = jest.spyOn(Date, 'now');
    try {
      now.mockReturnValue(1_000);
      state_of_key.restriction = limits({ expires_at: new Date(2_000) });
      await request(withKey);
      now.mockReturnValue(2_000);
      await expect(request(withKey)).rejects.toMatchObject({ code: 'INVALID_PARTNER_KEY' });
      expect(state.taken['p']).toBe(1);
    } finally {
      now.mockRestore();
    }
  });
});
