// The rows of people: the caller is taken from the request's key or session, never from its body.
import { compile } from '../parts/schema';
import type { Endpoint, Fields, Input } from '../endpoint';
import { people } from './rows';

const row = (name: string): Endpoint => {
  const found = people.find(({ verb, path }) => `${verb} ${path}` === name);
  if (!found) throw new Error(`no row ${name}`);
  return found;
};

test.each([
  ['POST /people', { email: 'ada@example.com', role: 'owner' }],
  ['PATCH /people/:person_id', { role: 'owner' }],
  ['DELETE /people/:person_id', {}],
  ['POST /people/:person_id/invitation', {}],
])('%s takes the caller from the request', async (name, body) => {
  const forged = {
    ...body,
    partner_id: 'ptn_9',
    caller_key_id: 'key_9',
    caller_person_id: 'per_9',
  };
  const checked = compile(row(name).body ?? {}, 'body')({ ...forged, person_id: 'per_9' });
  const requestOf = (caller: object) =>
    row(name).request?.({
      partner_id: 'ptn_1',
      params: { person_id: 'per_2' },
      query: {},
      body: checked,
      ...caller,
    } as unknown as Input) as Fields;
  expect(requestOf({ person_id: 'per_1' })).toMatchObject({
    partner_id: 'ptn_1',
    caller_key_id: undefined,
    caller_person_id: 'per_1',
    ...(name !== 'POST /people' && { person_id: 'per_2' }),
  });
  expect(requestOf({ key_id: 'key_1' })).toMatchObject({
    caller_key_id: 'key_1',
    caller_person_id: undefined,
  });
});

test('no row that answers a link takes an Idempotency-Key, which would store it', () => {
  expect(people.filter(({ idempotent }) => idempotent)).toEqual([]);
});
