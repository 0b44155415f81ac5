import type { Received } from '@bmg/common/bus';
import { writeCallbackData } from '@bmg/common/messages';
import type { Statuses } from '@bmg/proto/stream';
import { findOutcome, type OutcomeDependencies } from './outcome';
import { applyStatuses } from '../messages/feature';
import { createContacts } from '../contacts/store';
import { indexes } from '../collections';
import type { MessageRecord } from '../messages/message-record';
import { createMessages } from '../messages/store';
import { NEXT_YEAR } from '../../../../test/testkit/next-year';
import { testDatabase } from '../../../../test/testkit/database';

const NOW = new Date(Date.UTC(NEXT_YEAR, 8, 21));
const SCOPE = {
  partner_id: 'par_1',
  waba_id: '900000000000001',
  phone_number_id: '800000000000001',
};
const target = { ...SCOPE, directory_version: '' };

const db = testDatabase(indexes);
let deps: OutcomeDependencies & { contacts: ReturnType<typeof createContacts> };
let messages: ReturnType<typeof createMessages>;
beforeAll(async () => {
  messages = createMessages(db);
  deps = { messages, contacts: createContacts(db) };
});

const aRecord = (over: Partial<MessageRecord>): MessageRecord => ({
  _id: 'req_1',
  ...SCOPE,
  message_id: 'wamid.1',
  kind: 'text',
  recipient: '15550100777',
  status: 'accepted',
  sent_at: NOW,
  updated_at: NOW,
  ...over,
});

test('finds nothing under an unused request id', async () => {
  expect(await findOutcome(deps, { target, request_id: 'req_0' })).toEqual({});
});

test('finds a recorded send by its request id, for its own partner only', async () => {
  await messages.record(aRecord({}));
  expect(await findOutcome(deps, { target, request_id: 'req_1' })).toEqual({
    result: {
      message_id: 'wamid.1',
      contacts: [{ input: '15550100777', wa_id: '15550100777' }],
    },
  });
  const other = { ...target, partner_id: 'par_2' };
  expect(await findOutcome(deps, { target: other, request_id: 'req_1' })).toEqual({});
});

test('answers the platform id of the number if it is known', async () => {
  await messages.record(aRecord({ _id: 'req_2', recipient: '5215550100777' }));
  await deps.contacts.learn({
    waba_id: target.waba_id,
    phone: '5215550100777',
    wa_id: '525550100777',
    source: 'traffic',
    at: NOW,
  });
  const { result } = await findOutcome(deps, { target, request_id: 'req_2' });
  expect(result?.contacts).toEqual([{ input: '5215550100777', wa_id: '525550100777' }]);
});

test('answers a send to a BSUID with its user id and no number', async () => {
  await messages.record(aRecord({ _id: 'req_3', recipient: 'US.4Qm7Zr81Kd02' }));
  const { result } = await findOutcome(deps, { target, request_id: 'req_3' });
  expect(result?.contacts).toEqual([{ input: 'US.4Qm7Zr81Kd02', user_id: 'US.4Qm7Zr81Kd02' }]);
});

test('finds a send that was never recorded once one of its statuses has arrived', async () => {
  const status = {
    message_id: 'wamid.4',
    status: 'sent',
    timestamp: NOW.getTime() / 1_000,
    recipient: '15550100888',
    opaque: writeCallbackData(target.partner_id, 'req_4'),
    received_at_ms: NOW.getTime(),
    reconciled: false,
  };
  await applyStatuses(messages)([
    { message: { ...target, statuses: [status] } } as unknown as Received<Statuses>,
  ]);
  expect(await findOutcome(deps, { target, request_id: 'req_4' })).toMatchObject({
    result: { message_id: 'wamid.4', contacts: [{ input: '15550100888' }] },
  });
});
