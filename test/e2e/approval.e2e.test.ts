// Large broadcasts wait for the approval of a second person, on the wire: who may set it, who may
// approve, and what keys and people see.
import { ONE } from '../harness/shared-mesh';
import { eventually } from '../testkit/eventually';
import { aBroadcast, createBroadcast, people, scopeOf, untilCompleted } from './broadcast-support';
import { refused, useConsole, type SignedIn } from './people-support';
import { usePartner } from './use-mesh';

const ABOVE = 3;
const SETTING = '/v1/broadcast-approval';

const { mesh, web } = useConsole();
const partner = usePartner(mesh, [ONE], { name: 'Acme', rate_limit_per_sec: 100_000 });
let owner: SignedIn;
let developer: SignedIn;
let support: SignedIn;

beforeAll(async () => {
  owner = await web.member(partner, 'owner');
  developer = await web.member(partner, 'developer');
  support = await web.member(partner, 'support');
});

const create = async (by: SignedIn, contacts: number): Promise<any> => {
  const answer = await by.call(
    'POST',
    '/v1/broadcasts',
    aBroadcast(people(contacts)),
    scopeOf(ONE),
  );
  expect([answer.status, answer.body.error]).toEqual([201, undefined]);
  return answer.body;
};
const set = (above: number | null, by = owner) => by.call('PUT', SETTING, { above });
const approve = (by: SignedIn, id: number) => by.call('POST', `/v1/broadcasts/${id}/approve`);
const read = async (id: number, query = '') =>
  (await partner.call('GET', `/broadcasts/${id}${query}`)).body;

test('only an owner changes the setting: no key does, nor the session of one', async () => {
  const body = { above: ABOVE };
  const keyless = await web.ask('POST', '/session', { body: { partner_key: partner.partner_key } });
  for (const answer of [
    await partner.call('PUT', '/broadcast-approval', body),
    await web.browserOf(keyless)('PUT', SETTING, body),
    await set(ABOVE, developer),
  ]) {
    expect(refused(answer)).toEqual([403, 'PERSON_REQUIRED']);
  }
  expect(refused(await set(ABOVE, support))).toEqual([403, 'SCOPE_MISSING']);
  const { body: wrong } = await set(0);
  expect(wrong.error).toMatchObject({ code: 'INVALID_FIELD', details: { field: 'above' } });
  expect((await set(ABOVE)).body).toMatchObject({ above: ABOVE, approvers: 2 });
  expect((await support.call('GET', SETTING)).body.above).toBe(ABOVE);
});

describe('with the setting', () => {
  beforeAll(async () => {
    expect((await set(ABOVE)).status).toBe(200);
  });

  test('a broadcast of a person waits, until another person approves it', async () => {
    const { broadcast_id: id, ...created } = await create(developer, ABOVE + 1);
    expect(created).toMatchObject({ approval: { state: 'waiting', approved_by: null } });
    const waiting = await read(id, '?include=forecast');
    expect(waiting.broadcast).toMatchObject({ status: 'pending', sent: 0 });
    expect(waiting.forecast).toMatchObject({
      ...{ total: ABOVE + 1, failing: 0, starts_at: expect.any(String) },
      ...{ windows: expect.any(Object), cost: expect.any(Object) },
    });
    expect(refused(await approve(developer, id))).toEqual([403, 'SECOND_PERSON_REQUIRED']);
    expect(refused(await approve(support, id))).toEqual([403, 'SCOPE_MISSING']);
    const by_key = await partner.call('POST', `/broadcasts/${id}/approve`);
    expect(refused(by_key)).toEqual([403, 'PERSON_REQUIRED']);
    expect((await approve(owner, id)).status).toBe(200);
    await untilCompleted(partner, id, 30_000);
    const { broadcast, ...more } = await read(id);
    expect(more).not.toHaveProperty('forecast');
    const by = { created_by: developer.person_id, approved_by: owner.person_id };
    expect(broadcast).toMatchObject({ sent: ABOVE + 1, approval: { state: 'approved', ...by } });
  });

  test('a broadcast of a key waits too, within the second that the setting takes', async () => {
    const id = await eventually(async () => {
      const made = await createBroadcast(partner, ONE, people(ABOVE + 1));
      const { broadcast } = await read(made);
      return broadcast.approval?.state === 'waiting' && made;
    }, 10_000);
    expect((await read(id)).broadcast.approval.created_by).toBeNull();
    await partner.call('POST', `/broadcasts/${id}/cancel`);
    expect(refused(await approve(owner, id))).toEqual([409, 'CANNOT_APPROVE']);
  });

  test('the check says that it needs approval, and is no obstacle', async () => {
    const check = (contacts: number) =>
      developer.call('POST', '/v1/messages/check', aBroadcast(people(contacts)), scopeOf(ONE));
    const { body } = await check(ABOVE + 1);
    expect(body.deliverable).not.toBe('no');
    const codes = ({ reasons }: any): string[] => reasons.map((one: any) => one.code as string);
    expect(body.reasons).toContainEqual(
      expect.objectContaining({ code: 'APPROVAL_REQUIRED', effect: 'note', scope: 'broadcast' }),
    );
    expect(codes((await check(ABOVE)).body)).not.toContain('APPROVAL_REQUIRED');
  });

  test('switching it off leaves the broadcasts that wait', async () => {
    const { broadcast_id } = await create(developer, ABOVE + 1);
    expect((await set(null)).body.above).toBeNull();
    expect((await read(broadcast_id)).broadcast.approval.state).toBe('waiting');
    expect(await create(developer, ABOVE + 1)).not.toHaveProperty('approval');
    await partner.call('POST', `/broadcasts/${broadcast_id}/cancel`);
  });
});
