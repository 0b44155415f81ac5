import type { Received } from '@bmg/common/bus';
import type { Event } from '@bmg/proto/stream';
import type { ConversationFact } from './contact-changes';
import { factsOfStatuses, inboundFacts } from './apply';
import { contactsOfEvents, statusesOfEvents } from '../../../../test/testkit/state-of-events';

const AT = 1_790_000_000;
const PLACE = { waba_id: '900', phone_number_id: '800', at: new Date(AT * 1_000) };

/** Through the records that fan-out makes of an event. */
function factsOf(event: string, data: object, over: object = {}): ConversationFact[] {
  const message = {
    event,
    waba_id: '900',
    phone_number_id: '800',
    timestamp: AT,
    data: JSON.stringify(data),
    ...over,
  };
  const batch = [{ message }] as unknown as Received<Event>[];
  const contacts = contactsOfEvents(batch).flatMap(({ message: told }) =>
    told.contacts.flatMap((contact) => inboundFacts(told.waba_id, contact)),
  );
  return [...contacts, ...factsOfStatuses(statusesOfEvents(batch))];
}

test('a message opens the window of its sender, known by number and BSUID', () => {
  const data = { from: '15550100777', bsuid: 'US.4Qm7Zr81Kd02', raw: { message: {} } };
  expect(factsOf('message.received', data)).toEqual([
    { ...PLACE, kind: 'inbound', contact: '15550100777', bsuid: 'US.4Qm7Zr81Kd02' },
  ]);
  expect(factsOf('standby.message_received', { bsuid: 'US.4Qm7Zr81Kd02' })).toEqual([
    { ...PLACE, kind: 'inbound', contact: 'US.4Qm7Zr81Kd02' },
  ]);
});

test('a message from an ad opens the free entry point window too', () => {
  const data = { from: '15550100777', raw: { message: { referral: { source_type: 'ad' } } } };
  expect(factsOf('message.received', data).map(({ kind }) => kind)).toEqual(['inbound', 'entry']);
});

test('records failures that concern the customer, and free entry point prices', () => {
  const failed = (code: number) =>
    factsOf('message.failed', { recipient: '15550100777', errors: [{ code }] });
  expect(failed(131_026)).toEqual([
    { ...PLACE, kind: 'failed', code: 131_026, contact: '15550100777' },
  ]);
  expect(failed(131_047)).toEqual([]);
  const priced = (type: string) =>
    factsOf('message.sent', { recipient: '15550100777', pricing: { type } });
  expect(priced('free_entry_point').map(({ kind }) => kind)).toEqual(['free_entry']);
  expect(priced('regular')).toEqual([]);
});

test.each([
  ['another event', 'message.echo', {}],
  ['the address book', 'contact.synced', {}],
  ['an event without a number', 'message.received', { phone_number_id: undefined }],
])('ignores %s', (_name, event, over) => {
  expect(factsOf(event, { from: '15550100777', phone_number: '15550100777' }, over)).toEqual([]);
});
