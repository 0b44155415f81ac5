// The rows of API keys: who grants is taken from the request's key, and null removes a limit.
import { compile } from '../parts/schema';
import type { Endpoint, Fields, Input } from '../endpoint';
import { keys } from './rows';

const row = (name: string): Endpoint => {
  const found = keys.find(({ verb, path }) => `${verb} ${path}` === name);
  if (!found) throw new Error(`no row ${name}`);
  return found;
};
/** The request of the RPC for a body as it arrives. */
async function requestOf(name: string, body: Fields, change: Partial<Input> = {}): Promise<Fields> {
  const checked = compile(row(name).body ?? {}, 'body')(body);
  const input = { partner_id: 'ptn_1', params: { key_id: 'key_2' }, query: {}, body: checked };
  return (await row(name).request?.({ ...input, ...change } as Input)) as Fields;
}
const CREATE = 'POST /keys';
const UPDATE = 'PATCH /keys/:key_id';
const ROTATE = 'POST /keys/:key_id/rotate';

test.each([
  [CREATE, { name: 'A', scopes: ['read'] }],
  [UPDATE, { name: 'A' }],
  [ROTATE, {}],
])('%s takes the granting key from the request, never from the body', async (name, body) => {
  const forged = { ...body, caller_key_id: 'key_9', partner_id: 'ptn_9', key_id: 'key_9' };
  const of = { partner_id: 'ptn_1', caller_key_id: 'key_1' };
  expect(await requestOf(name, forged, { key_id: 'key_1' })).toMatchObject(of);
  const by_partner = await requestOf(name, forged);
  expect(by_partner).toMatchObject({ partner_id: 'ptn_1', caller_key_id: undefined });
  if (name !== CREATE) expect(by_partner['key_id']).toBe('key_2');
});

test('a new key without limits has none', async () => {
  const unlimited = { waba_ids: [], addresses: [], expires_at: undefined };
  const body = { name: 'A', scopes: ['read'] };
  expect(await requestOf(CREATE, body)).toMatchObject(unlimited);
  const nulls = { waba_ids: null, addresses: null, expires_at: null };
  expect(await requestOf(CREATE, { ...body, ...nulls })).toMatchObject(unlimited);
});

test('an update keeps what is absent, and null removes a limit', async () => {
  expect(await requestOf(UPDATE, { name: 'A' })).toMatchObject({
    scopes: undefined,
    waba_ids: undefined,
    addresses: undefined,
    expires_at: undefined,
    never_expires: false,
  });
  const nulls = { waba_ids: null, addresses: null, expires_at: null };
  expect(await requestOf(UPDATE, nulls)).toMatchObject({
    waba_ids: { items: [] },
    addresses: { items: [] },
    never_expires: true,
  });
  expect(await requestOf(UPDATE, { expires_at: '2099-01-01t00:00:00z' })).toMatchObject({
    expires_at: new Date('2099-01-01T00:00:00Z'),
    never_expires: false,
  });
  await expect(requestOf(UPDATE, {})).rejects.toMatchObject({ code: 'MISSING_FIELDS' });
});

test.each([
  ['scopes', { scopes: [] }],
  ['waba_ids', { waba_ids: [] }],
  ['addresses', { addresses: [] }],
  ['expires_at', { expires_at: '2099-02-30T00:00:00Z' }],
  ['expires_at', { expires_at: '2099-01-01' }],
])('an empty or malformed %s is refused: it must not mean "no limit"', async (field, body) => {
  await expect(requestOf(UPDATE, body)).rejects.toMatchObject({
    code: 'INVALID_FIELD',
    details: { field },
  });
});

test('answers null if a key has no limit', () => {
  const key = { key_id: 'key_1', scopes: ['read'], waba_ids: [], addresses: ['203.0.113.7'] };
  const reply = row(ROTATE).reply?.({ key, secret: 'bmgk_x' }, {} as Input) as Fields;
  expect(reply).toEqual({
    key: {
      ...key,
      waba_ids: null,
      expires_at: null,
      last_used_at: null,
      previous_expires_at: null,
    },
    secret: 'bmgk_x',
  });
});

test('no row that answers a secret takes an Idempotency-Key, which would store it', () => {
  expect(keys.filter(({ idempotent }) => idempotent)).toEqual([]);
});
