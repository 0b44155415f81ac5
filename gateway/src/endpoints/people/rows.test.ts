// The rows of people: the caller is taken from the request's key or session, never from its body.
import { requestOf, taken } from '../../../../test/contract/rows';
import { people } from './rows';

test.each([
  ['POST /people', { email: 'ada@example.com', role: 'owner' }],
  ['PATCH /people/:person_id', { role: 'owner' }],
  ['DELETE /people/:person_id', {}],
  ['POST /people/:person_id/invitation', {}],
])('%s takes the caller from the request', async (name, given) => {
  const ids = { caller_key_id: 'key_9', caller_person_id: 'per_9', person_id: 'per_9' };
  const body = taken(name, { ...given, partner_id: 'ptn_9', ...ids });
  const of = (caller: object) =>
    requestOf(name, { params: { person_id: 'per_2' }, body, ...caller });
  expect(of({ person_id: 'per_1' })).toMatchObject({
    partner_id: 'ptn_1',
    caller_key_id: undefined,
    caller_person_id: 'per_1',
    ...(name !== 'POST /people' && { person_id: 'per_2' }),
  });
  expect(of({ key_id: 'key_1' })).toMatchObject({
    caller_key_id: 'key_1',
    caller_person_id: undefined,
  });
});

test('no row that answers a link takes an Idempotency-Key, which would store it', () => {
  expect(people.filter(({ idempotent }) => idempotent)).toEqual([]);
});
