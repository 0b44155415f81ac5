import { CheckBroadcastRequest } from '@bmg/proto/broadcasts';
import { preflightOfBroadcast, isBroadcast } from './preflight';
import { taken, TARGET } from '../../../../test/contract/rows';

const accept = (body: object) => taken('POST /messages/check', body);
const BROADCAST = {
  name: 'Autumn',
  template_name: 'hello_world',
  template_language: 'en_US',
  contacts: ['15550100777', { to: '15550100778', params: ['Ada'] }],
};
const request = async (body: object) => {
  const fields = await preflightOfBroadcast({ body: accept(body), target: TARGET });
  return CheckBroadcastRequest.fromPartial(fields);
};

test('a body without kind is a broadcast, and so is one of the kind broadcast', () => {
  expect(isBroadcast(BROADCAST)).toBe(true);
  expect(isBroadcast({ ...BROADCAST, kind: 'broadcast' })).toBe(true);
  expect(isBroadcast({ ...BROADCAST, kind: 'template' })).toBe(false);
});

test('passes a broadcast on as its creation does', async () => {
  expect(await request({ kind: 'broadcast', ...BROADCAST })).toMatchObject({
    name: 'Autumn',
    contacts: [{ recipient: '15550100777' }, { recipient: '15550100778', params: { '1': 'Ada' } }],
    faults: [],
  });
});

test('passes on every contact that a creation would refuse, beyond those that its error names', async () => {
  const contacts = Array.from({ length: 100 }, () => 'abc');
  const { faults } = await request({ ...BROADCAST, contacts });
  expect(faults).toHaveLength(100);
  expect(faults[99]).toMatchObject({ code: 'INVALID_FIELD', field: 'contacts[99]' });
});

test.each([
  ['a missing field', { name: ' ' }, 'name'],
  ['a time without a zone', { scheduled_at: '2030-01-02' }, 'scheduled_at'],
  ['too many contacts', { contacts: Array.from({ length: 10_001 }, () => 'x') }, 'contacts'],
])('passes on the fault of a creation: %s', async (_name, body, field) => {
  const { faults } = await request({ ...BROADCAST, ...body });
  expect(faults.map((fault) => fault.field)).toContain(field);
});

test('refuses a body that is neither', () => {
  expect(() => accept({ to: '15550100777' })).toThrow(
    expect.objectContaining({ code: 'MISSING_FIELDS' }),
  );
});
