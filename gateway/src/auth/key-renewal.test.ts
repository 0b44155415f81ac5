// A key whose hash is stored under an older pepper: accepted, and renewed once without a wait.
import { createKey, createPeppers, PARTNER_KEY_PREFIX } from '@bmg/common/keys';
import type { Call } from '@bmg/common/rpc';
import type { AuthenticateManyRequest, RenewKeyHashRequest } from '@bmg/proto/onboarding';
import { createAuthenticator } from './authenticate';
import { createHashRenewal } from './hash-renewal';
import { createLookUps } from './look-ups';
import { ROOM } from '../../test/room';

const CALL = {} as Call;
const KEY = createKey(PARTNER_KEY_PREFIX);
const OLD = `old:${Buffer.alloc(32, 'a').toString('base64')}`;
const NEW = `new:${Buffer.alloc(32, 'b').toString('base64')}`;

function setUp(stored_with: string, ring: string) {
  const stored = createPeppers(stored_with).hash(KEY);
  const caller = { partner_id: 'p', rate_limit_per_sec: 10, status: 'active' };
  const authenticateMany = jest.fn(async ({ key_hashes }: AuthenticateManyRequest) => ({
    callers: key_hashes.includes(stored) ? { [stored]: caller } : {},
  }));
  const renewKeyHash = jest.fn((_request: RenewKeyHashRequest): Promise<never> =>
    Promise.reject(new Error('unimplemented')),
  );
  const directory = { authenticateMany, renewKeyHash } as never;
  const warn = jest.fn();
  const renewal = createHashRenewal(directory, { warn } as never);
  const peppers = createPeppers(ring);
  const authenticator = createAuthenticator(directory, peppers, createLookUps(ROOM), renewal);
  const use = async (version: string) => {
    const known = await authenticator.identify(KEY, '192.0.2.1', CALL);
    return (await authenticator.confirm(known, version, CALL)).partner_id;
  };
  return { use, peppers, stored, authenticateMany, renewals: () => renewKeyHash.mock.calls, warn };
}

test('is accepted with one look-up, and its hash is renewed', async () => {
  const { use, peppers, stored, authenticateMany, renewals } = setUp(OLD, `${NEW},${OLD}`);
  expect(await use('v1')).toBe('p');
  expect(authenticateMany.mock.calls[0]?.[0]).toEqual({
    key_hashes: peppers.hashes(KEY),
    restrictions: true,
  });
  expect(renewals().map(([request]) => request)).toEqual([
    { key_hash: stored, newest: peppers.hash(KEY) },
  ]);
});

test('is accepted although the renewal fails, which is not repeated at once', async () => {
  const { use, renewals, warn } = setUp(OLD, `${NEW},${OLD}`);
  for (const version of ['v1', 'v2', 'v3']) expect(await use(version)).toBe('p');
  expect(renewals()).toHaveLength(1);
  expect(warn).toHaveBeenCalledTimes(1);
});

test('is not renewed when its hash is the newest', async () => {
  const { use, renewals } = setUp(NEW, `${NEW},${OLD}`);
  expect(await use('v1')).toBe('p');
  expect(renewals()).toEqual([]);
});

test('is refused once the older pepper is removed', async () => {
  const { use } = setUp(OLD, NEW);
  await expect(use('v1')).rejects.toMatchObject({ code: 'INVALID_PARTNER_KEY' });
});
