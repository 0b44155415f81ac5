import { topics } from '@bmg/common/bus';
import { conversationKey } from '@bmg/common/upstream-webhook';
import { Contacts_Contact_Kind } from '@bmg/proto/stream';
import { createActivity, createStateRecords, type StateItem } from './state-records';

const NOW_S = 1_790_000_000;
const WABA = '900000000000001';
const NUMBER = '800000000000001';

const item = (overrides: Partial<StateItem> = {}): StateItem => ({
  occurrence: `message|${Math.random()}`,
  event: 'message.received',
  internal: false,
  waba_id: WABA,
  phone_number_id: NUMBER,
  contact: '15550100777',
  timestamp: NOW_S,
  data: { from: '15550100777', text: 'Hello', contact: { wa_id: '15550100778' } },
  json: '{}',
  opaque: undefined,
  received_at_ms: NOW_S * 1_000,
  partner_ids: ['ptn_1'],
  span: { traceId: '1', spanId: '1', traceFlags: 1 },
  ...overrides,
});

const sent = (message_id: string): StateItem =>
  item({
    event: 'message.sent',
    opaque: 'bmg1:ptn_1:req_1',
    data: {
      message_id,
      recipient: '15550100777',
      pricing: { category: 'utility', billable: true, type: 'regular' },
    },
  });

function recordsOf(items: StateItem[], activity = createActivity(), now_s = NOW_S) {
  const records = createStateRecords(activity, now_s * 1_000);
  for (const one of items) records.add(one);
  const taken = records.take();
  records.published();
  return taken.map(({ topic, key, message }) => ({ topic: topic.name, key, message }));
}

const names = (records: Array<{ topic: string }>): string[] => records.map(({ topic }) => topic);

test('a text costs one small contact record, without its content', () => {
  const activity = createActivity();
  recordsOf([item()], activity);
  expect(recordsOf([item()], activity)).toEqual([
    {
      topic: topics.contact.name,
      key: WABA,
      message: {
        waba_id: WABA,
        contacts: [
          {
            kind: Contacts_Contact_Kind.KIND_TRAFFIC,
            phone: '15550100777',
            wa_id: '15550100778',
            timestamp: NOW_S,
            phone_number_id: NUMBER,
          },
        ],
      },
    },
  ]);
});

test('all statuses of a conversation in a batch make one record, in order', () => {
  const records = recordsOf([sent('wamid.1'), sent('wamid.2'), sent('wamid.1')]);
  const [status] = records.filter(({ topic }) => topic === topics.status.name);
  expect(names(records).sort()).toEqual([topics.account.name, topics.status.name]);
  expect(status).toMatchObject({
    key: conversationKey(NUMBER, '15550100777'),
    message: {
      statuses: [
        {
          message_id: 'wamid.1',
          status: 'sent',
          opaque: 'bmg1:ptn_1:req_1',
          recipient: '15550100777',
          pricing_category: 'utility',
          pricing_billable: true,
        },
        { message_id: 'wamid.2' },
        { message_id: 'wamid.1' },
      ],
    },
  });
});

test('the statuses of conversations with many people make a bounded number of records', () => {
  const items = Array.from({ length: 1_000 }, (_, at) => ({
    ...sent(`wamid.${at}`),
    contact: String(15_550_100_000 + at),
  }));
  const records = recordsOf(items).filter(({ topic }) => topic === topics.status.name);
  const keys = new Set(records.map(({ key }) => key));
  expect([records.length, keys.size]).toEqual([16, 16]);
});

test('an event that no service reads makes no record', () => {
  const quiet = { phone_number_id: undefined, data: {} };
  expect(recordsOf([item({ ...quiet, event: 'group_lifecycle_update' })])).toEqual([]);
  expect(recordsOf([item({ event: 'handover', internal: true, data: {} })])).toEqual([]);
  expect(recordsOf([item({ event: 'message.history', data: {} })])).toEqual([]);
});

test('events of templates and accounts are published whole', () => {
  const records = recordsOf([
    item({ event: 'template.status_updated', phone_number_id: undefined, json: '{"a":1}' }),
    item({ event: 'offboarded', internal: true }),
    item({ event: 'history_sync', internal: true, data: {} }),
  ]);
  expect(names(records)).toEqual([topics.template.name, topics.account.name, topics.account.name]);
  expect(records[0]).toMatchObject({
    key: WABA,
    message: { event: 'template.status_updated', data: '{"a":1}', partner_ids: ['ptn_1'] },
  });
});

test('a number is reported active once a minute, and again if that was not published', () => {
  const activity = createActivity();
  const active = (now_s: number) =>
    recordsOf([item({ timestamp: now_s })], activity, now_s).filter(
      ({ topic }) => topic === topics.account.name,
    ).length;
  const failed = createStateRecords(activity, NOW_S * 1_000);
  failed.add(item());
  expect(names(failed.take().map(({ topic }) => ({ topic: topic.name })))).toHaveLength(2);
  expect([0, 30, 59, 60, 90].map((after) => active(NOW_S + after))).toEqual([1, 0, 0, 1, 0]);
});

test('a time in the future hides no later activity', () => {
  const activity = createActivity();
  recordsOf([item({ timestamp: NOW_S + 86_400 })], activity);
  expect(names(recordsOf([item()], activity, NOW_S + 60))).toEqual([topics.contact.name]);
  const later = item({ timestamp: NOW_S + 60 });
  expect(names(recordsOf([later], activity, NOW_S + 60))).toContain(topics.account.name);
});
