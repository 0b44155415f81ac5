// A batch returns what a look-up of each entry would, without the entries that are refused.
import { fromRefusal } from '@bmg/common/directory';
import type { ApiError } from '@bmg/common/errors';
import type { Refusal } from '@bmg/proto/onboarding';
import { calling, failureOf, useWorld } from '../../../test/world';
import { createDirectoryHandlers } from './handlers';

const TWO_NUMBERS = '900000000000002';
const NUMBERS = ['800000000000002', '800000000000003'] as const;
const ONE_NUMBER = { waba_id: '900000000000001', phone_number_id: '800000000000001' };

/** It takes some 20 ms; a look for each account under each partner takes 800. */
const AT_ONCE_LIMIT_MS = 300;

const world = useWorld();
const directory = () => world.handlers;
const register = (partner_id: string, waba_id: string, phone_number_id: string, token: string) =>
  world.register(partner_id, { waba_id, phone_number_id, access_token: token });

/** Two partners: one with all three numbers, one with the first number of the larger account. */
async function twoPartners(): Promise<[string, string]> {
  const [one, two] = await Promise.all([world.partner(), world.partner()]);
  for (const number of NUMBERS) await register(one._id, TWO_NUMBERS, number, 'EMULATED-TOKEN-2');
  await register(two._id, TWO_NUMBERS, NUMBERS[0], 'EMULATED-TOKEN-2');
  const { waba_id, phone_number_id } = ONE_NUMBER;
  await register(one._id, waba_id, phone_number_id, 'EMULATED-TOKEN-1');
  return [one._id, two._id];
}

test('keys: present and previous ones until these expire', async () => {
  const expires_at = new Date(world.deps.now().getTime() + 60_000);
  const active = await world.partner({ previous_key: { key_hash: 'earlier', expires_at } });
  const suspended = await world.partner({ status: 'suspended', rate_limit_per_sec: 7 });
  const key_hashes = [suspended.key_hash, 'unknown', active.key_hash, 'earlier'];
  const callers = async () =>
    (await directory().authenticateMany({ key_hashes, restrictions: true })).callers;
  const caller = { partner_id: active._id, rate_limit_per_sec: 200, status: 'active' };
  const other = { partner_id: suspended._id, rate_limit_per_sec: 7, status: 'suspended' };
  const present = { [suspended.key_hash]: other, [active.key_hash]: caller };
  expect(await callers()).toEqual({ ...present, earlier: caller });
  world.passTime(61);
  expect(await callers()).toEqual(present);
});

test('targets: of the partner’s own active numbers', async () => {
  const [one, two] = await twoPartners();
  const targets = [one, two, 'ptn_unknown'].flatMap((partner_id) =>
    [TWO_NUMBERS, ONE_NUMBER.waba_id, '1'].flatMap((waba_id) =>
      [undefined, ...NUMBERS, ONE_NUMBER.phone_number_id].map((phone_number_id) => ({
        partner_id,
        waba_id,
        phone_number_id,
      })),
    ),
  );
  const { phone_number_ids } = await directory().resolveTargets({ targets });
  const found = targets.flatMap(({ partner_id, waba_id }, index) =>
    phone_number_ids[index] === '' ? [] : [[partner_id, waba_id, phone_number_ids[index]]],
  );
  expect(found).toEqual([
    ...NUMBERS.map((number) => [one, TWO_NUMBERS, number]),
    ...[0, 1].map(() => [one, ONE_NUMBER.waba_id, ONE_NUMBER.phone_number_id]),
    ...[0, 1].map(() => [two, TWO_NUMBERS, NUMBERS[0]]),
  ]);
});

test('targets: a refusal has the error of the single look-up', async () => {
  const [partner_id] = await twoPartners();
  const targets = [
    { partner_id, waba_id: ONE_NUMBER.waba_id },
    { partner_id, waba_id: '1' },
    { partner_id, ...ONE_NUMBER, waba_id: TWO_NUMBERS },
    { partner_id, waba_id: TWO_NUMBERS },
  ];
  const { refusals } = await directory().resolveTargets({ targets });
  const failures = await Promise.all(
    targets.slice(1).map((target) => failureOf(directory().resolveTarget(target))),
  );
  expect(failures.map(({ code }) => code)).toEqual([
    'WABA_NOT_REGISTERED',
    'INVALID_FIELD',
    'UPSTREAM_ERROR',
  ]);
  const shown = ({ code, message, retryable, details }: ApiError) => [
    code,
    message,
    retryable,
    details,
  ];
  expect(Object.keys(refusals)).toEqual(['1', '2', '3']);
  expect(
    Object.values(refusals).map((one) => shown(fromRefusal(one as Refusal) as ApiError)),
  ).toEqual(failures.map(shown));
});

test('targets: a thousand accounts of as many partners are read at once', async () => {
  const [one] = await twoPartners();
  const targets = Array.from({ length: 999 }, (_, index) => ({
    partner_id: `ptn_${index}`,
    waba_id: String(920_000_000_000_000 + index),
  }));
  targets.push({ partner_id: one, waba_id: ONE_NUMBER.waba_id });
  const times: number[] = [];
  for (let time = 0; time < 3; time += 1) {
    const started = performance.now();
    const { phone_number_ids } = await directory().resolveTargets({ targets });
    times.push(performance.now() - started);
    expect(phone_number_ids.filter((id) => id !== '')).toEqual([ONE_NUMBER.phone_number_id]);
  }
  expect(Math.min(...times)).toBeLessThan(AT_ONCE_LIMIT_MS);
});

test('targets: accounts with too many numbers to be read together are read one by one', async () => {
  const [one, two] = await twoPartners();
  const targets = [one, two].map((partner_id) => ({ partner_id, waba_id: TWO_NUMBERS }));
  const clients = { ...world.deps.clients, activeOfAll: async () => undefined };
  const { resolveTargets } = calling(createDirectoryHandlers({ ...world.deps, clients }));
  const { phone_number_ids } = await resolveTargets({ targets });
  expect(phone_number_ids).toEqual(['', NUMBERS[0]]);
});

test('a single look-up is refused with its own error', async () => {
  const scope = { partner_id: 'ptn_unknown', ...ONE_NUMBER };
  const refused: Array<Promise<unknown>> = [
    directory().authenticate({ key_hash: 'unknown' }),
    directory().getCredential(scope),
    directory().getReceiver(scope),
  ];
  const failures = await Promise.all(refused.map(failureOf));
  expect(failures.map(({ code, message }) => [code, message])).toEqual([
    ['INVALID_PARTNER_KEY', 'x-partner-key is not a valid key'],
    ['WABA_NOT_REGISTERED', 'x-waba-id names no business account registered with you'],
    ['NOT_FOUND', 'no such partner'],
  ]);
});

test('credentials: of active clients', async () => {
  const [one, two] = await twoPartners();
  await world.handlers.deleteClient({ partner_id: two, waba_id: TWO_NUMBERS });
  const scopes = [one, two].flatMap((partner_id) => [
    ...NUMBERS.map((phone_number_id) => ({ partner_id, waba_id: TWO_NUMBERS, phone_number_id })),
    { partner_id, ...ONE_NUMBER },
  ]);
  const { found } = await directory().getCredentials({ scopes });
  const [two_numbers, one_number] = ['EMULATED-TOKEN-2', 'EMULATED-TOKEN-1'];
  expect(found.map(({ credential }) => credential?.access_token)).toEqual([
    ...[two_numbers, two_numbers, one_number],
    ...[undefined, undefined, undefined],
  ]);
});

test('no lookup takes more than 1,000 entries', async () => {
  const many = <T>(one: T): T[] => Array.from({ length: 1_001 }, () => one);
  const scope = { partner_id: 'ptn_1', waba_id: '1', phone_number_id: '1' };
  const asked = [
    directory().authenticateMany({ key_hashes: many('hash') }),
    directory().resolveTargets({ targets: many(scope) }),
    directory().getCredentials({ scopes: many(scope) }),
    directory().getOwnersOfNumbers({ numbers: many(scope) }),
    directory().getReceivers({ partner_ids: many('ptn_1') }),
  ];
  for (const answer of asked) {
    const failure = await failureOf(answer);
    expect(failure.code).toBe('INVALID_PAYLOAD');
    expect(failure.message).toMatch(/: at most 1000 at once$/);
  }
});

describe('owners of a number that an event names by its digits', () => {
  const ownersOf = async (display_phone_number: string, waba_id = ONE_NUMBER.waba_id) => {
    const asked = { waba_id, display_phone_number, all_active: false };
    const { partner_ids, phone_number_id } = await directory().getOwners(asked);
    return { partner_ids, phone_number_id };
  };

  test.each([
    ['5511987650001', '551187650001'],
    ['525587650001', '5215587650001'],
    ['5491154933738', '541154933738'],
  ])('are found for %s and for its other spelling %s', async (stored, other) => {
    const [one] = await twoPartners();
    const scope = { partner_id: one, ...ONE_NUMBER };
    await world.deps.clients.change(scope, { phone_number: stored });
    const found = { partner_ids: [one], phone_number_id: ONE_NUMBER.phone_number_id };
    expect(await ownersOf(stored)).toEqual(found);
    expect(await ownersOf(other)).toEqual(found);
    expect(await ownersOf(other, TWO_NUMBERS)).toMatchObject({ partner_ids: [] });
  });

  test('are those of the number as it is written, if the account has both spellings', async () => {
    const [one] = await twoPartners();
    const spellings = ['551187650001', '5511987650001'];
    for (const [at, phone_number_id] of NUMBERS.entries()) {
      const scope = { partner_id: one, waba_id: TWO_NUMBERS, phone_number_id };
      await world.deps.clients.change(scope, { phone_number: spellings[at] as string });
    }
    for (const [at, phone_number_id] of NUMBERS.entries()) {
      const found = await ownersOf(spellings[at] as string, TWO_NUMBERS);
      expect(found).toEqual({ partner_ids: [one], phone_number_id });
    }
  });
});
