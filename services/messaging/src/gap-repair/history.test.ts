import { aRecord } from '../../test/builders';
import { missingFrom, readHistory, webhookOf } from './history';

const ID = 'wamid.1';
const at = (second: number): Date => new Date((1_790_000_000 + second) * 1_000);
const event = (delivery_status: string, second: number, more = {}) => ({
  id: '1',
  delivery_status,
  timestamp: 1_790_000_000 + second,
  ...more,
});
const answer = (...data: unknown[]) => ({
  data: [{ id: '1', message_id: ID, events: { data } }],
});

test.each([
  ['SENT', 'sent'],
  ['Delivered', 'delivered'],
  ['read', 'read'],
  ['FAILED', 'failed'],
  ['ERROR', 'failed'],
])('reads %s as %s', (spelled, status) => {
  expect(readHistory(answer(event(spelled, 1)), ID)).toEqual([{ status, at: at(1) }]);
});

test('leaves out statuses without an event or a time, and those of another message', () => {
  const events = [event('ACCEPTED', 1), event('DELETED', 2), { id: '1', delivery_status: 'READ' }];
  expect(readHistory(answer(...events), ID)).toEqual([]);
  expect(readHistory(answer(event('READ', 1)), 'wamid.2')).toEqual([]);
  for (const odd of [{}, { data: null }, { data: [{ message_id: ID }] }, { data: [null] }]) {
    expect(readHistory(odd, ID)).toEqual([]);
  }
});

test('reports each status once and in order, with the first of repeated times', () => {
  const events = [event('READ', 9), event('SENT', 1), event('READ', 12)];
  expect(readHistory(answer(...events), ID)).toEqual([
    { status: 'sent', at: at(1) },
    { status: 'read', at: at(9) },
  ]);
});

test('takes the time under the name that the events edge gives it', () => {
  const event = { delivery_status: 'SENT', occurrence_timestamp: 1_790_000_001 };
  expect(readHistory(answer(event), ID)).toEqual([{ status: 'sent', at: at(1) }]);
});

describe('missing statuses', () => {
  const known = (['sent', 'delivered', 'read'] as const).map((status, index) => ({
    status,
    at: at(index),
    error: undefined,
  }));
  const names = (record: Parameters<typeof missingFrom>[0], before = at(60)) =>
    missingFrom(record, known, before).map(({ status }) => status);
  const came = { at: at(0), received_at: at(1) };

  test('are those that never came, lower ones included', () => {
    expect(names({})).toEqual(['sent', 'delivered', 'read']);
    expect(names({ statuses: { delivered: came } })).toEqual(['sent', 'read']);
    expect(names({ statuses: { sent: came, delivered: came, read: came } })).toEqual([]);
  });

  test('are not those whose webhook may be on its way', () => {
    expect(names({}, at(1))).toEqual(['sent', 'delivered']);
  });
});

test('makes the webhook with the recipient as the upstream names it', () => {
  const record = aRecord(at(0), { message_id: ID, recipient: '5511987654321' });
  const failed = [{ status: 'failed' as const, at: at(3), error: 'Undeliverable' }];
  const statusOf = (body: ReturnType<typeof webhookOf>): unknown =>
    (body as any).entry[0].changes[0].value.statuses[0]; // any: a JSON body
  expect(statusOf(webhookOf(record, '551187654321', failed))).toEqual({
    id: ID,
    status: 'failed',
    timestamp: '1790000003',
    recipient_id: '551187654321',
    biz_opaque_callback_data: 'bmg1:ptn_1:msg_1',
    errors: [{ title: 'Undeliverable', message: 'Undeliverable' }],
  });
  const bsuid = 'US.4Qm7Zr81Kd02';
  expect(statusOf(webhookOf({ ...record, recipient: bsuid }, undefined, failed))).toMatchObject({
    recipient_user_id: bsuid,
  });
});
