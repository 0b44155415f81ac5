// The rows of API keys: null removes a limit.
import { replyOf, requestOf, taken } from '../../../../test/contract/rows';

/** The request of the RPC for a body as it arrives. */
const requestFor = (name: string, body: object) =>
  requestOf(name, { params: { key_id: 'key_2' }, body: taken(name, body) });
const CREATE = 'POST /keys';
const UPDATE = 'PATCH /keys/:key_id';

test('a new key without limits has none', () => {
  const unlimited = { waba_ids: [], addresses: [], expires_at: undefined };
  const body = { name: 'A', scopes: ['read'] };
  expect(requestFor(CREATE, body)).toMatchObject(unlimited);
  const nulls = { waba_ids: null, addresses: null, expires_at: null };
  expect(requestFor(CREATE, { ...body, ...nulls })).toMatchObject(unlimited);
});

test('an update keeps what is absent, and null removes a limit', () => {
  expect(requestFor(UPDATE, { name: 'A' })).toMatchObject({
    scopes: undefined,
    waba_ids: undefined,
    addresses: undefined,
    expires_at: undefined,
    never_expires: false,
  });
  const nulls = { waba_ids: null, addresses: null, expires_at: null };
  expect(requestFor(UPDATE, nulls)).toMatchObject({
    waba_ids: { items: [] },
    addresses: { items: [] },
    never_expires: true,
  });
  expect(requestFor(UPDATE, { expires_at: '2099-01-01t00:00:00z' })).toMatchObject({
    expires_at: new Date('2099-01-01T00:00:00Z'),
    never_expires: false,
  });
  expect(() => requestFor(UPDATE, {})).toThrow(expect.objectContaining({ code: 'MISSING_FIELDS' }));
});

test.each([
  ['scopes', { scopes: [] }],
  ['waba_ids', { waba_ids: [] }],
  ['addresses', { addresses: [] }],
  ['expires_at', { expires_at: '2099-02-30T00:00:00Z' }],
  ['expires_at', { expires_at: '2099-01-01' }],
])('an empty or malformed %s is refused: it must not mean "no limit"', (field, body) => {
  expect(() => requestFor(UPDATE, body)).toThrow(
    expect.objectContaining({ code: 'INVALID_FIELD', details: expect.objectContaining({ field }) }),
  );
});

test('answers null if a key has no limit', () => {
  const key = { key_id: 'key_1', scopes: ['read'], waba_ids: [], addresses: ['203.0.113.7'] };
  const nulls = { expires_at: null, last_used_at: null, previous_expires_at: null };
  expect(replyOf('POST /keys/:key_id/rotate', { key, secret: 'bmgk_x' })).toEqual({
    key: { ...key, waba_ids: null, ...nulls },
    secret: 'bmgk_x',
  });
});
