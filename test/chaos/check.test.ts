// A good history keeps every promise; for each promise a bad one is detected.
import { checkHistory, type Verdict } from './check';
import type { History, PartnerEnd, Send } from './history';

const WABA = '900';
const NUMBER = '800';

const send = (overrides: Partial<Send> = {}): Send => ({
  invoked_ms: 1_000,
  completed_ms: 1_100,
  outcome: 'ok',
  partner: 'steady',
  to: '1',
  key: null,
  message_id: 'wamid.1',
  answer: '200',
  with_old_key: false,
  ...overrides,
});
const refused = (overrides: Partial<Send> = {}): Send =>
  send({ to: '2', message_id: null, outcome: 'fail', answer: '403 NOT_ALLOWED', ...overrides });

const EVENTS = ['message.received wamid.C.0', 'message.received wamid.C.1', 'message.sent wamid.1'];
const logOf = (events: string[]): PartnerEnd['log'] =>
  events.map((event, index) => ({
    seq: index + 1,
    event_id: `evt_${event}`,
    event,
    waba_id: WABA,
  }));
const arrival = (event: string, overrides: Partial<History['arrivals'][number]> = {}) => ({
  partner: 'steady',
  at_ms: 2_000,
  event_id: `evt_${event}`,
  event,
  waba_id: WABA,
  answered: 200,
  is_signed: true,
  ...overrides,
});

const partner = (overrides: Partial<PartnerEnd> = {}): PartnerEnd => ({
  name: 'steady',
  numbers: [NUMBER],
  wabas: [WABA],
  receiver: 'healthy',
  live_log: logOf(EVENTS.slice(0, 2)),
  log: logOf(EVENTS),
  failed_events: [],
  messages: [{ message_id: 'wamid.1', status: 'sent' }],
  ledger: ['wamid.1'],
  ...overrides,
});
const broadcast = (overrides: Partial<History['broadcasts'][number]> = {}) => ({
  broadcast_id: 7,
  name: 'chaos-0',
  status: 'completed',
  total: 1,
  sent: 1,
  failed: 0,
  contacts: ['3'],
  ...overrides,
});
const broadcaster = (overrides: Partial<PartnerEnd> = {}): PartnerEnd =>
  partner({
    name: 'broadcaster',
    numbers: [],
    receiver: null,
    live_log: [],
    log: [],
    messages: [],
    ledger: ['wamid.3'],
    ...overrides,
  });
const change = (overrides: Partial<History['changes'][number]> = {}) => ({
  invoked_ms: 500,
  completed_ms: 600,
  outcome: 'ok' as const,
  partner: 'steady',
  kind: 'delete' as const,
  ...overrides,
});

const webhook = (status: number, events: string[]): History['webhooks'][number] => ({
  ...{ invoked_ms: 0, completed_ms: 1, phone_number_id: NUMBER },
  ...{ status, events },
});

const history = (overrides: Partial<History> = {}): History => ({
  sends: [send(), refused()],
  changes: [],
  status_reads: [],
  upstream: [
    { id: 'wamid.1', to: '1' },
    { id: 'wamid.3', to: '3' },
  ],
  webhooks: [webhook(200, EVENTS)],
  conversations: [['wamid.C.0', 'wamid.C.1']],
  arrivals: EVENTS.map((event) => arrival(event)),
  partners: [partner(), broadcaster()],
  broadcasts: [broadcast()],
  leaks: [],
  log_lines: 10,
  faults: [],
  uncommitted: [],
  posted_again: [],
  unhealthy: null,
  ...overrides,
});

const broken = (given: History): string[] =>
  checkHistory(given)
    .filter(({ violations }) => violations.length > 0)
    .map(({ promise }) => promise);
const verdict = (given: History, part: string): Verdict =>
  checkHistory(given).find(({ promise }) => promise.includes(part)) as Verdict;

const redis = (name: string): History['faults'] => [
  { name, target: 'redis', from_ms: 550, to_ms: 2_000 },
];
const LOSES = redis('redis loses its last writes');
const upstreamWith = (id: string, to: string) => [...history().upstream, { id, to }];
const read = (status: string, at_ms: number): History['status_reads'][number] => ({
  ...{ message_id: 'wamid.1', status },
  ...{ invoked_ms: at_ms, completed_ms: at_ms + 1 },
});

test('a good history keeps every promise', () => {
  expect(broken(history())).toEqual([]);
});

/** The good history with another end state of its partner. */
const ends = (overrides: Partial<PartnerEnd>): Partial<History> => ({
  partners: [partner(overrides), broadcaster()],
});
const [FIRST, SECOND, THIRD] = EVENTS as [string, string, string];
const KEYED = send({ key: 'k' });
const UNKNOWN = send({ outcome: 'info', message_id: null });

/** For a part of each promise's text: what breaks it, and the change to the good history. */
const BAD: Record<string, Record<string, Partial<History>>> = {
  'an accepted send': {
    'is not at the upstream': { upstream: history().upstream.slice(1) },
    'is not in the message log': ends({ messages: [] }),
    'is recorded twice': ends({ messages: [...partner().messages, ...partner().messages] }),
  },
  'a send refused': { 'is at the upstream': { upstream: upstreamWith('wamid.2', '2') } },
  'a send without a key': { 'is sent twice': { upstream: upstreamWith('wamid.9', '1') } },
  'an Idempotency-Key': {
    'is sent twice': {
      sends: [{ ...UNKNOWN, key: 'k' }, KEYED],
      upstream: upstreamWith('wamid.9', '1'),
    },
    'gets two answers': { sends: [KEYED, send({ key: 'k', message_id: 'wamid.9' })] },
  },
  'is in the log of each owner': {
    'an event is missing': ends({ log: logOf([FIRST, SECOND]) }),
    'an event is in it twice': ends({ log: logOf([...EVENTS, THIRD]) }),
  },
  'reaches each receiver': {
    'an event did not arrive': { arrivals: history().arrivals.slice(1) },
    'an event was refused and is not listed': {
      arrivals: EVENTS.map((event, index) => arrival(event, { answered: index === 0 ? 500 : 200 })),
    },
  },
  'keeps its webhook-id': {
    'a repetition has another one': {
      arrivals: [...history().arrivals, arrival(FIRST, { event_id: 'evt_other' })],
    },
  },
  'of a conversation': {
    'a receiver got the second first': {
      arrivals: [SECOND, FIRST, THIRD].map((event) => arrival(event)),
    },
    'the log has the second first': ends({ live_log: [], log: logOf([SECOND, FIRST, THIRD]) }),
  },
  'no gap and no duplicate': {
    'a position is missing': ends({
      live_log: [],
      log: logOf(EVENTS).map((one) => ({ ...one, seq: one.seq + 1 })),
    }),
  },
  'never changes': { 'a position had another event': ends({ live_log: logOf([SECOND]) }) },
  'a deleted client': {
    'a send after the deletion went upstream': {
      changes: [change()],
      sends: [UNKNOWN],
    },
  },
  'a replaced key': {
    'a send with it was accepted': {
      changes: [change({ kind: 'rotate-key' })],
      sends: [send({ with_old_key: true })],
    },
  },
  'the status of a message': {
    'a later read is lower': { status_reads: [read('read', 10), read('delivered', 20)] },
    'the last one is below an accepted webhook': ends({
      messages: [{ message_id: 'wamid.1', status: 'accepted' }],
    }),
  },
  'no contact of a broadcast': {
    'a contact got it twice': { upstream: upstreamWith('wamid.2', '3') },
  },
  'the counters of a broadcast': {
    'a sent contact counts as failed': { broadcasts: [broadcast({ sent: 0, failed: 1 })] },
    'it does not complete': { broadcasts: [broadcast({ status: 'running' })] },
  },
  'created once': {
    'two have the same key': { broadcasts: [broadcast(), broadcast({ broadcast_id: 8 })] },
  },
  'one row in the ledger': {
    'a message has none': ends({ ledger: [] }),
    'a message of a broadcast has two': {
      partners: [partner(), broadcaster({ ledger: ['wamid.3', 'wamid.3'] })],
    },
  },
  'its own accounts': {
    'a receiver got an event of another': {
      arrivals: history().arrivals.map((one) => ({ ...one, waba_id: '901' })),
    },
  },
  signed: {
    'a delivery is not': {
      arrivals: history().arrivals.map((one) => ({ ...one, is_signed: false })),
    },
  },
  'every consumer commits': {
    'a partition stays behind': { uncommitted: ['webhooks event/3: 2'] },
  },
  'posts nothing again': { 'an event is posted again': { posted_again: ['evt_1 to steady'] } },
  'are healthy': { 'a part stays down': { unhealthy: 'fanout: down' } },
  'no secret': { 'a line has one': { leaks: ['gateway.log: [secret]'] } },
};

const CASES = Object.entries(BAD).flatMap(([part, ways]) =>
  Object.entries(ways).map(([what, overrides]) => [part, what, overrides] as const),
);
test.each(CASES)('detects that %s …: %s', (part, _what, overrides) => {
  expect(verdict(history(overrides), part).violations).not.toEqual([]);
});

test('every promise has a history that breaks it', () => {
  const parts = Object.keys(BAD);
  const untested = checkHistory(history()).filter(
    ({ promise }) => !parts.some((part) => promise.includes(part)),
  );
  expect(untested).toEqual([]);
});

const KEYED_TWICE = ['wamid.1', 'wamid.9'].map((message_id) => send({ key: 'k', message_id }));
const SENT_TWICE: Partial<History> = {
  upstream: upstreamWith('wamid.9', '1'),
  ...ends({
    messages: ['wamid.1', 'wamid.9'].map((message_id) => ({ message_id, status: 'sent' })),
  }),
};
const FORGOTTEN: Partial<History> = { sends: [UNKNOWN], ...ends({ ledger: [] }) };

/** What is decided, as checked cases, violations and unknown cases of the promise. */
test.each<[string, string, Partial<History>, [number, number, number]]>([
  [
    'a send with an unknown outcome that is not at the upstream',
    'an accepted send',
    { sends: [send(), { ...UNKNOWN, to: '2' }] },
    [1, 0, 1],
  ],
  [
    'a send with an unknown outcome that is at the upstream once',
    'a send without a key',
    { sends: [send(), { ...UNKNOWN, to: '2' }], upstream: upstreamWith('wamid.2', '2') },
    [2, 0, 1],
  ],
  [
    'a refused attempt beside an unknown one under its key',
    'a send refused',
    { sends: [refused({ key: 'k' }), { ...UNKNOWN, to: '2', key: 'k' }] },
    [0, 0, 0],
  ],
  [
    'two answers under a key whose record Redis may have lost',
    'an Idempotency-Key',
    { sends: KEYED_TWICE, faults: LOSES },
    [0, 0, 1],
  ],
  [
    'two messages of a key whose record Redis may have lost',
    'an accepted send',
    { ...SENT_TWICE, sends: KEYED_TWICE, faults: LOSES },
    [2, 0, 0],
  ],
  [
    'two messages of a key while Redis was sound',
    'an accepted send',
    { ...SENT_TWICE, sends: KEYED_TWICE },
    [2, 2, 0],
  ],
  [
    'two messages without a key while Redis lost its last writes',
    'an accepted send',
    { ...SENT_TWICE, sends: KEYED_TWICE.map((one) => ({ ...one, key: null })), faults: LOSES },
    [2, 2, 0],
  ],
  [
    'a send just after a deletion without Redis',
    'a deleted client',
    { changes: [change()], faults: redis('kill engine'), sends: [send()] },
    [0, 0, 1],
  ],
  [
    'a send long after a deletion without Redis',
    'a deleted client',
    {
      changes: [change()],
      faults: redis('kill engine'),
      sends: [send({ invoked_ms: 5_000, completed_ms: 5_100 })],
    },
    [1, 1, 0],
  ],
  [
    'a send between a deletion and a registration that overlap',
    'a deleted client',
    { changes: [change(), change({ kind: 'register', invoked_ms: 900, completed_ms: 1_050 })] },
    [0, 0, 0],
  ],
  [
    'a message with an unknown outcome that the ledger lacks after its client was deleted',
    'in the ledger',
    { ...FORGOTTEN, changes: [change({ invoked_ms: 1_200, completed_ms: 1_300 })] },
    [1, 0, 1],
  ],
  [
    'a message with an unknown outcome that the ledger lacks',
    'in the ledger',
    FORGOTTEN,
    [2, 1, 0],
  ],
  [
    'an event that was given up and is listed',
    'reaches each receiver',
    {
      arrivals: EVENTS.map((event) => arrival(event, { answered: event === FIRST ? 410 : 200 })),
      ...ends({ failed_events: [`evt_${FIRST}`] }),
    },
    [3, 0, 0],
  ],
  [
    'a webhook that was not answered 200',
    'is in the log of each owner',
    { webhooks: [webhook(200, EVENTS), webhook(503, ['message.received wamid.other'])] },
    [3, 0, 0],
  ],
])('decides about %s', (_case, part, overrides, counts) => {
  const { checked, violations, unknown } = verdict(history(overrides), part);
  expect([checked, violations.length, unknown]).toEqual(counts);
});
