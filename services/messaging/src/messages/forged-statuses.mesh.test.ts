// Statuses whose callback data or message id names another partner's message. A partner with an
// upstream token of its own chooses its callback data, and may have seen ours on an account that
// both use.
import type { Received } from '@bmg/common/bus';
import { writeCallbackData } from '@bmg/common/messages';
import type { Statuses } from '@bmg/proto/stream';
import { addLate } from '../ledger/late';
import { findOutcome } from '../send/outcome';
import { applyStatuses } from './feature';
import { createContacts } from '../contacts/store';
import { indexes } from '../collections';
import { createLateEntries, LEDGER_LATE } from '../ledger/store/late';
import { MESSAGES, type MessageRecord } from './message-record';
import { createMessages } from './store';
import { createRateCards } from '../rates/store';
import { aRecord } from '../../test/builders';
import { NEXT_YEAR } from '../../../../test/testkit/next-year';
import { testDatabase } from '../../../../test/testkit/database';

const NOW = new Date(Date.UTC(NEXT_YEAR, 9, 20));
/** After September. */
const CLOSED_UNTIL = new Date(Date.UTC(NEXT_YEAR, 9, 1));
const VICTIM = { partner_id: 'par_a', waba_id: '900', phone_number_id: '800' };
const FORGER = { partner_id: 'par_b', waba_id: '901', phone_number_id: '801' };
const REQUEST_ID = 'bc_17_0_4_0123456789ab';

const db = testDatabase(indexes);
let closed_until: Date | undefined;
let messages: ReturnType<typeof createMessages>;

beforeEach(async () => {
  for (const name of [MESSAGES, LEDGER_LATE]) await db.collection(name).deleteMany({});
  closed_until = undefined;
  const [lateEntries, rateCards] = [createLateEntries(db), createRateCards(db)];
  messages = createMessages(db, 0, {
    end: async () => closed_until,
    addLate: addLate({ lateEntries, rateCards, now: () => NOW }),
  });
});

const recordOf = (over: Partial<MessageRecord> = {}): MessageRecord =>
  aRecord(NOW, {
    _id: REQUEST_ID,
    ...VICTIM,
    message_id: 'wamid.own',
    kind: 'template',
    template: { name: 'order_update', language: 'en_US' },
    ...over,
  });

interface Forged {
  on?: typeof VICTIM;
  names?: string | undefined;
  message_id?: string;
  status?: string;
}

/** A status of the forger's message, as the upstream reports it and fan-out passes it on. */
async function applyForged({
  on = FORGER,
  names = FORGER.partner_id,
  message_id = 'wamid.forged',
  status = 'read',
}: Forged): Promise<void> {
  const { waba_id, phone_number_id } = on;
  const said = {
    message_id,
    status,
    timestamp: NOW.getTime() / 1_000,
    opaque: names === '' ? undefined : writeCallbackData(names, REQUEST_ID),
    recipient: '15550100999',
    pricing_category: 'marketing',
    pricing_billable: true,
    received_at_ms: NOW.getTime(),
    reconciled: false,
  };
  const message = { waba_id, phone_number_id, statuses: [said] };
  await applyStatuses(messages)([{ message } as Received<Statuses>]);
}

const stored = () => db.collection(MESSAGES).find({ partner_id: VICTIM.partner_id }).toArray();
const lateOnes = () => db.collection(LEDGER_LATE).find().toArray();

const ATTACKS: Array<[string, Forged]> = [
  ['of another number', {}],
  ['of another number that names the partner', { names: VICTIM.partner_id }],
  ['of another message of the number', { on: VICTIM, names: VICTIM.partner_id }],
  ['of another partner of the number', { on: VICTIM }],
  ['of another number without callback data', { names: '', message_id: 'wamid.own' }],
];

describe.each(ATTACKS)('a status %s', (_name, forged) => {
  test.each(['sent', 'delivered', 'read', 'failed'])(
    'changes nothing as %s, on any record',
    async (status) => {
      const before = [
        recordOf(),
        recordOf({ _id: 'msg_other', message_id: 'wamid.other', status: 'delivered' }),
      ];
      for (const record of before) await messages.record(structuredClone(record));
      await applyForged({ ...forged, status });
      await applyForged({ ...forged, status });
      expect(await stored()).toEqual(before);
    },
  );

  test('enters nothing into the ledger for a message of a closed month', async () => {
    const record = recordOf({ sent_at: new Date(Date.UTC(NEXT_YEAR, 8, 20)) });
    await messages.record(structuredClone(record));
    closed_until = CLOSED_UNTIL;
    await applyForged({ ...forged, status: 'delivered' });
    expect([await stored(), await lateOnes()]).toEqual([[record], []]);
  });
});

test.each([
  ['of the forger', { names: FORGER.partner_id }],
  ['on the number of the send', { on: VICTIM, names: VICTIM.partner_id }],
])('a record made from a status %s does not stand in for the send', async (_name, forged) => {
  await applyForged(forged);
  const record = recordOf();
  await messages.record(structuredClone(record));
  expect(await stored()).toEqual([record]);
  const target = { ...VICTIM, directory_version: '' };
  const deps = { messages, contacts: createContacts(db) };
  const { result } = await findOutcome(deps, { target, request_id: REQUEST_ID });
  expect(result?.message_id).toBe('wamid.own');
  const theirs = { ...VICTIM, phone_number_id: FORGER.phone_number_id, directory_version: '' };
  expect(await findOutcome(deps, { target: theirs, request_id: REQUEST_ID })).toEqual({});
});

test('fills in a record that the status of the same message made', async () => {
  const own = {
    on: VICTIM,
    names: VICTIM.partner_id,
    message_id: 'wamid.own',
    status: 'delivered',
  };
  await applyForged(own);
  await messages.record(recordOf());
  expect(await stored()).toMatchObject([
    { _id: REQUEST_ID, kind: 'template', status: 'delivered', arrived: true },
  ]);
});
