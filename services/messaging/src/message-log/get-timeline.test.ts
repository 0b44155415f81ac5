import { eventIdsOfMessage } from '@bmg/common/messages';
import { createPool } from '@bmg/common/overload';
import { createLogger } from '@bmg/common/telemetry';
import type { GetEventResponse, LoggedEvent } from '@bmg/proto/webhooks';
import { getTimeline, type TimelineDependencies } from './get-timeline';
import type { MessageRecord } from '../messages/message-record';
import { aRecord } from '../../test/builders';
import { aCall } from '../../../../test/testkit/call';

const log = createLogger('test');
const at = (second: number): Date => new Date(Date.UTC(2026, 8, 1, 12, 0, second));
const call = aCall();

const recordOf = (over: Partial<MessageRecord> = {}): MessageRecord =>
  aRecord(at(10), {
    waba_id: '900',
    phone_number_id: '800',
    message_id: 'wamid.A',
    status: 'read',
    updated_at: at(30),
    send: {
      http_request_id: 'req-4711',
      idempotency_key: 'order-4711',
      trace_id: 'c'.repeat(32),
      upstream: { http_status: 200, duration_ms: 250, trace_id: 'Up1' },
    },
    pricing: { category: 'utility', billable: true },
    ...over,
  });

const anEvent = (event: string, second: number, data: object = {}): GetEventResponse => ({
  event: {
    seq: second,
    event_id: `evt_${event}`,
    event,
    waba_id: '900',
    envelope: JSON.stringify({ event, data: { message_id: 'wamid.A', ...data } }),
    received_at: at(second),
    logged_at: at(second),
    delivery: { status: 'delivered', attempts: 1 },
    trace_id: 'd'.repeat(32),
  },
  attempts: [{ number: 1, at: at(second + 1), duration_ms: 7, http_status: 200 }],
});

const deps = (over: Partial<TimelineDependencies> = {}): TimelineDependencies => ({
  messageList: { find: async () => recordOf() },
  eventLog: { findEvents: async () => ({ events: [] }) },
  broadcasts: { findContact: async () => ({}) },
  directory: {
    listNumbers: async () => ({ phone_number_ids: ['799', '800'], has_more: false }),
  },
  ledgerMonths: { list: async () => [] },
  rateCards: { prices: async () => undefined, pricesOf: async () => undefined },
  searches: createPool({ server: 'test', reason: 'numbers', holder: 'partner', max: 10 }, log),
  log,
  ...over,
});

const timeline = (
  over: Partial<TimelineDependencies> = {},
  asked: { waba_id?: string; phone_number_id?: string | undefined } = {},
) => getTimeline(deps(over), { partner_id: 'ptn_1', message_id: 'wamid.A', ...asked }, call);
const recorded = (record: MessageRecord | null) => ({
  messageList: { find: async () => record },
});
/** An event log with these events of any message; `asked` has the ids of each lookup. */
function logged(...events: GetEventResponse[]) {
  const asked: string[][] = [];
  const findEvents = async ({ event_ids }: { event_ids: string[] }) => {
    asked.push(event_ids);
    return { events };
  };
  return { asked, eventLog: { findEvents } };
}

test('leaves out the earliest attempts of a message whose events were delivered very often', async () => {
  const attempts = Array.from({ length: 700 }, (_unused, index) => ({
    number: index + 1,
    at: new Date(at(0).getTime() + index),
    duration_ms: 7,
  }));
  const events = ['message.sent', 'message.read'].map((name) => ({
    ...anEvent(name, 20),
    attempts,
  }));
  const { entries, missing } = await timeline(logged(...events));
  expect(entries).toHaveLength(1_000);
  expect(missing).toEqual(['attempts']);
  expect(entries.filter(({ type }) => type === 'event')).toHaveLength(2);
  const numbers = entries.flatMap(({ number }) => number ?? []);
  expect([Math.min(...numbers), Math.max(...numbers)]).toEqual([203, 700]);
});

test('lists a send, its statuses, its events and their deliveries in the order of our clock', async () => {
  const statuses = {
    sent: { at: at(14), received_at: at(21), superseded: true as const },
    delivered: { at: at(15), received_at: at(20), trace_id: 'e'.repeat(32) },
    failed: { at: at(16), received_at: at(40), reconciled: true as const, error_code: '131026' },
  };
  const { asked, eventLog } = logged(anEvent('message.delivered', 20));
  const { message, entries, missing } = await timeline({
    ...recorded(recordOf({ statuses })),
    eventLog,
  });
  // The record names the number of the events.
  const ids = eventIdsOfMessage('ptn_1', { phone_number_id: '800', message_id: 'wamid.A' });
  expect(asked).toEqual([ids]);
  expect(message).toMatchObject({ direction: 'outbound', status: 'read', contact: '15550100777' });
  expect(missing).toEqual([]);
  expect(entries.map(({ type, status }) => status ?? type)).toEqual([
    'accepted',
    'upstream',
    'delivered',
    'event',
    'sent',
    'attempt',
    'failed',
  ]);
  expect(entries).toMatchObject([
    {
      at: new Date(at(10).getTime() - 250),
      request_id: 'req-4711',
      idempotency_key: 'order-4711',
      trace_id: 'c'.repeat(32),
    },
    { http_status: 200, duration_ms: 250, upstream_trace_id: 'Up1' },
    { source: 'webhook', trace_id: 'e'.repeat(32) },
    {},
    { superseded: true },
    { number: 1, http_status: 200, trace_id: 'd'.repeat(32) },
    { source: 'message_history', error_code: '131026' },
  ]);
});

test('names the broadcast of a message and the state of its contact', async () => {
  const findContact = jest.fn(async () => ({
    contact: { broadcast_id: 7, name: 'Sale', state: 'delivered' },
  }));
  const send = { broadcast: true as const, upstream: { http_status: 200, duration_ms: 1 } };
  const { broadcast } = await timeline({
    ...recorded(recordOf({ _id: 'bc_7_0_1_aa', send })),
    broadcasts: { findContact },
  });
  const asked = { partner_id: 'ptn_1', request_id: 'bc_7_0_1_aa' };
  expect(findContact).toHaveBeenCalledWith(asked, call);
  expect(broadcast).toEqual({ broadcast_id: 7, name: 'Sale', contact_state: 'delivered' });
});

test('lists the statuses of each participant of a group and the events about it', async () => {
  const [ADA, BO] = ['15550100777', 'US.8Bo'];
  const statuses = {
    delivered: { at: at(14), received_at: at(20), participant: ADA },
    read: { at: at(15), received_at: at(21), participant: ADA },
  };
  const participants = [
    { status: 'read' as const, at: at(16), received_at: at(22), participant: BO },
    { status: 'delivered' as const, at: at(15), received_at: at(23), participant: BO },
  ];
  const record = recordOf({ recipient: 'Y2FwaV9ncm91cA==', statuses, participants });
  const about = { participant: null, participant_bsuid: BO };
  const { asked, eventLog } = logged(anEvent('message.read', 22, about));
  const { entries } = await timeline({ ...recorded(record), eventLog });
  const message = { phone_number_id: '800', message_id: 'wamid.A' };
  expect(asked).toEqual([eventIdsOfMessage('ptn_1', message, [ADA, BO])]);
  expect(new Set(asked.flat()).size).toBe(14 + 2 * 8);
  expect(entries.find(({ type }) => type === 'event')).toMatchObject({ participant: BO });
  const shown = entries
    .filter(({ type }) => type === 'status')
    .map(({ status, participant, superseded }) => [participant, status, superseded]);
  expect(shown).toEqual([
    [ADA, 'delivered', false],
    [ADA, 'read', false],
    [BO, 'read', false],
    [BO, 'delivered', true],
  ]);
});

describe('a message that was not sent here', () => {
  const received = anEvent('message.received', 5, { from: '15550100777', type: 'image' });
  const none = recorded(null);

  test('is built from its events, without its content', async () => {
    const { message, entries } = await timeline(
      { ...none, ...logged(received) },
      { phone_number_id: '800' },
    );
    expect(message).toMatchObject({
      direction: 'inbound',
      kind: 'image',
      contact: '15550100777',
      phone_number_id: '800',
      status: undefined,
    });
    expect(entries.map(({ type }) => type)).toEqual(['event', 'attempt']);
  });

  /** Knows the message under one number. */
  const logOf = (phone_number_id: string) => {
    const asked: string[][] = [];
    const [event_id = ''] = eventIdsOfMessage('ptn_1', { phone_number_id, message_id: 'wamid.A' });
    const found = { ...received, event: { ...received.event, event_id } as LoggedEvent };
    const findEvents = async ({ event_ids }: { event_ids: string[] }) => {
      asked.push(event_ids);
      return { events: event_ids.includes(event_id) ? [found] : [] };
    };
    return { asked, eventLog: { findEvents } };
  };

  test('is searched in bounded lookups, among a thousand numbers', async () => {
    const { eventLog, asked } = logOf('900');
    const phone_number_ids = Array.from({ length: 1_000 }, (_one, index) => String(index));
    const listNumbers = jest.fn(async () => ({ phone_number_ids, has_more: false }));
    const { message } = await timeline(
      { ...none, eventLog, directory: { listNumbers } },
      { waba_id: '900' },
    );
    expect(message).toMatchObject({ direction: 'inbound', phone_number_id: '900' });
    expect(listNumbers).toHaveBeenCalledWith({ partner_id: 'ptn_1', waba_id: '900' }, call);
    expect(Math.max(...asked.map(({ length }) => length))).toBeLessThanOrEqual(1_000);
    expect(new Set(asked.flat()).size).toBe(asked.flat().length);
  });

  test('with more numbers than are searched, needs its number', async () => {
    const directory = { listNumbers: async () => ({ phone_number_ids: [], has_more: true }) };
    await expect(timeline({ ...none, directory })).rejects.toMatchObject({
      code: 'MISSING_FIELDS',
      details: { fields: ['phone_number_id'] },
    });
  });

  test('has to wait while the partner’s other searches take its share', async () => {
    const { searches } = deps();
    searches.take('ptn_1', 5);
    const crowded = { ...none, eventLog: logOf('800').eventLog, searches };
    await expect(timeline(crowded)).rejects.toMatchObject({ code: 'RATE_LIMIT_EXCEEDED' });
    searches.give('ptn_1', 5);
    for (let round = 0; round < 10; round += 1) {
      expect((await timeline(crowded)).message?.message_id).toBe('wamid.A');
    }
  });

  test.each([
    ['without its number, if it has no event', [], {}],
    ['with a number that did not receive it', [], { phone_number_id: '801' }],
    [
      'under another account of the partner',
      [received],
      { phone_number_id: '800', waba_id: '901' },
    ],
  ])('is not found %s', async (_name, events, request) => {
    const found = timeline({ ...none, ...logged(...events) }, request);
    await expect(found).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});

test('a number narrows down messages that were sent, too', async () => {
  const find = async ({ phone_number_id }: { phone_number_id?: string | undefined }) =>
    phone_number_id === '800' ? recordOf() : null;
  const on = (phone_number_id: string) => timeline({ messageList: { find } }, { phone_number_id });
  expect((await on('800')).message?.message_id).toBe('wamid.A');
  await expect(on('801')).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

describe('while webhooks or broadcasts are unreachable', () => {
  const away = async (): Promise<never> => Promise.reject(new Error('away'));
  const eventLog = { findEvents: away };

  test('lists the rest, and names the missing parts', async () => {
    const record = recordOf({ kind: 'unknown' });
    const { message, missing } = await timeline({
      ...recorded(record),
      eventLog,
      broadcasts: undefined,
    });
    expect(message?.message_id).toBe('wamid.A');
    expect(missing).toEqual(['broadcast', 'events']);
  });

  test.each([
    ['with its number', { eventLog }, { phone_number_id: '800' }],
    ['searched', { directory: { listNumbers: away } }, {}],
  ])(
    'a message known only from its events is unavailable, not unknown: %s',
    async (_n, of, asked) => {
      await expect(timeline({ ...recorded(null), ...of }, asked)).rejects.toMatchObject({
        code: 'SERVICE_UNAVAILABLE',
        retryable: true,
      });
    },
  );
});
