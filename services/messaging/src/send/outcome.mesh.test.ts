import type { Received } from '@bmg/common/bus';
import { writeCallbackData } from '@bmg/common/messages';
import type { Statuses } from '@bmg/proto/stream';
import { findOutcome } from './outcome';
import { applyStatuses } from '../messages/feature';
import { createContacts } from '../contacts/store';
import { indexes } from '../collections';
import { createMessages } from '../messages/store';
import { aRecord, TARGET } from '../../test/builders';
import { NEXT_YEAR } from '../../../../test/testkit/next-year';
import { testDatabase } from '../../../../test/testkit/database';

const NOW = new Date(Date.UTC(NEXT_YEAR, 8, 21));

const db = testDatabase(indexes);
const messages = createMessages(db);
const contacts = createContacts(db);
const find = (request_id: string, target = TARGET) =>
  findOutcome({ messages, contacts }, { target, request_id });

test('finds a recorded send by its request id, for its own partner only', async () => {
  await messages.record(aRecord(NOW, { _id: 'req_1' }));
  expect(await find('req_1')).toMatchObject({ result: { message_id: 'wamid.req_1' } });
  expect(await find('req_0')).toEqual({});
  expect(await find('req_1', { ...TARGET, partner_id: 'par_2' })).toEqual({});
});

test.each([
  ['a number', '15550100777', { wa_id: '15550100777' }],
  ['a number with another platform id', '5215550100777', { wa_id: '525550100777' }],
  ['a BSUID', 'US.4Qm7Zr81Kd02', { user_id: 'US.4Qm7Zr81Kd02' }],
])('answers a send to %s as the upstream did', async (_name, recipient, named) => {
  await contacts.learn({
    waba_id: TARGET.waba_id,
    phone: '5215550100777',
    wa_id: '525550100777',
    source: 'traffic',
    at: NOW,
  });
  await messages.record(aRecord(NOW, { _id: recipient, recipient }));
  const { result } = await find(recipient);
  expect(result?.contacts).toEqual([{ input: recipient, ...named }]);
});

test('finds a send that was never recorded once one of its statuses has arrived', async () => {
  const status = {
    message_id: 'wamid.4',
    status: 'sent',
    timestamp: NOW.getTime() / 1_000,
    recipient: '15550100888',
    opaque: writeCallbackData(TARGET.partner_id, 'req_4'),
    received_at_ms: NOW.getTime(),
    reconciled: false,
  };
  await applyStatuses(messages)([
    { message: { ...TARGET, statuses: [status] } } as unknown as Received<Statuses>,
  ]);
  expect(await find('req_4')).toMatchObject({
    result: { message_id: 'wamid.4', contacts: [{ input: '15550100888' }] },
  });
});
