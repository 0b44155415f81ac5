// Callback data is passed on only for a partner that owns the number, and never to partners.
import fc from 'fast-check';
import type { Outgoing } from '@bmg/common/bus';
import { API_VERSION, NOTICES } from '@bmg/common/notices';
import { unsampled } from '@bmg/common/telemetry';
import type { Delivery } from '@bmg/proto/stream';
import { normalise } from './normalise';
import { createEnvelope, dataOf, outgoingOf } from './outgoing';
import { itemsOf, type ReadWebhook } from './read-webhook';
import type { StateItem } from './state-records';

const NUMBER = '800000000000001';

const STATUS = {
  id: 'wamid.1',
  status: 'delivered',
  timestamp: '1790000000',
  recipient_id: '15550100777',
  biz_opaque_callback_data: 'bmg1:ptn_1:req_1',
};

/** The item of a webhook with one change. */
function itemOf(field: string, value: object) {
  const entry = [{ id: '900000000000001', changes: [{ field, value }] }];
  const from = {
    webhook: { received_at_ms: 0 },
    times: {},
    normalised: normalise({ object: 'whatsapp_business_account', entry }, 1_790_000_000),
    lossless: false,
    span: { spanContext: unsampled },
    published: 0,
  } as unknown as ReadWebhook;
  const [item] = itemsOf([from]);
  if (!item) throw new Error('no item');
  return item;
}

/**
 * The outcome for a status of ptn_1's send: the record for our services, and the owners'
 * deliveries.
 */
function outcomeOf(partner_ids: string[], metadata: object = { phone_number_id: NUMBER }) {
  const item = itemOf('messages', { metadata, statuses: [STATUS] });
  const added: StateItem[] = [];
  const records = { add: (one: StateItem) => void added.push(one), take: () => [], published() {} };
  const owner = { partner_ids, phone_number_id: undefined, waba_id: undefined };
  const envelope = (event: object): Buffer => Buffer.from(JSON.stringify(event));
  const data = JSON.stringify(item.data);
  const deliveries: Outgoing<Delivery>[] = [
    ...outgoingOf(item, owner, data, { records, envelope }),
  ];
  return { normalised: item.from.normalised, added, deliveries };
}

test('the status of a send carries its callback data, and makes no state change', () => {
  const { normalised, added } = outcomeOf(['ptn_1', 'ptn_2']);
  expect(normalised).toMatchObject({
    events: [{ event: 'message.delivered', callback_data: 'bmg1:ptn_1:req_1' }],
    state: [],
  });
  expect(added).toMatchObject([{ phone_number_id: NUMBER, opaque: 'bmg1:ptn_1:req_1' }]);
});

test.each([
  ['a partner that does not own the number', ['ptn_2'], { phone_number_id: NUMBER }],
  ['a number that is not known', ['ptn_1'], { display_phone_number: '15550100001' }],
])('callback data of %s is dropped, and the status stays', (_name, partner_ids, metadata) => {
  const { added, deliveries } = outcomeOf(partner_ids, metadata);
  expect(added).toMatchObject([{ event: 'message.delivered', opaque: undefined }]);
  expect(deliveries).toHaveLength(1);
});

test('partners do not get the callback data', () => {
  const { deliveries } = outcomeOf(['ptn_1']);
  expect(deliveries.map(({ message }) => String(message.body)).join()).not.toContain('bmg1');
});

test.each([
  ['passes on a small value', 100, {}],
  ['leaves out a value of more than 256 KB', 300_000, { value: null, value_bytes: 300_041 }],
])('upstream.other %s', (_name, size, expected) => {
  const value = { text: 'x'.repeat(size) };
  const data = dataOf(itemOf('new_field', value));
  expect(JSON.parse(data)).toEqual({ field: 'new_field', value, ...expected });
});

describe('the envelope', () => {
  const envelope = createEnvelope('https://gateway.example');

  test('has the contract’s fields, with the event id in meta', () => {
    const bytes = envelope(
      { event: 'message.sent', waba_id: '1', phone_number_id: '2', timestamp: 3, data: '{"a":1}' },
      'evt_x',
    );
    expect(JSON.parse(bytes.toString())).toEqual({
      event: 'message.sent',
      waba_id: '1',
      phone_number_id: '2',
      timestamp: 3,
      data: { a: 1 },
      meta: {
        api_version: API_VERSION,
        changelog: 'https://gateway.example/changelog',
        notices: NOTICES.map(({ id, severity, effective }) => ({ id, severity, effective })),
        event_id: 'evt_x',
      },
    });
  });

  test('keeps the digits of the upstream’s numbers, and a number that is null', () => {
    const data = '{"amount":12345678901234567890}';
    const bytes = envelope(
      { event: 'e', waba_id: '1', phone_number_id: null, timestamp: 3, data },
      'evt_x',
    );
    expect(bytes.toString()).toContain(data);
    expect(bytes.toString()).toContain('"phone_number_id":null');
  });

  test('round-trips any text through JSON', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.jsonValue(), (text, value) => {
        const data = JSON.stringify({ text, value });
        const bytes = envelope(
          { event: text, waba_id: text, phone_number_id: text, timestamp: 1, data },
          'evt_x',
        );
        const read = JSON.parse(bytes.toString('utf8')) as Record<string, unknown>;
        expect(read['data']).toEqual(JSON.parse(data));
      }),
    );
  });
});
