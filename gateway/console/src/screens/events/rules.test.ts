import type { Attempt } from '../../api/types';
import {
  answerOf,
  deliveryOf,
  isAccepted,
  outcomeOf,
  stateOf,
  subjectOf,
  withTests,
  type ListedEvent,
  type SentTest,
} from './rules';

test.each([
  [{ from: '15550100777', message_id: 'wamid.1' }, '15550100777', 'wamid.1'],
  [{ recipient: 'US.abc', message_id: 'wamid.2' }, 'US.abc', 'wamid.2'],
  [{ template_name: 'hello' }, null, null],
  [undefined, null, null],
])('an event with the data %j is about %j and %j', (data, contact, message_id) => {
  expect(subjectOf({ data })).toEqual({ contact, message_id });
});

const attempt = (http_status: number | null, error: string | null = null) =>
  ({ http_status, error }) as Attempt;

test.each([
  [attempt(204), true, 'HTTP 204'],
  [attempt(302), false, 'HTTP 302'],
  [attempt(503, 'HTTP 503'), false, 'HTTP 503'],
  [attempt(null, 'timeout'), false, 'timeout'],
  [attempt(null), true, 'stored'],
])('%j is accepted: %j, %s', (one, accepted, answer) => {
  expect([isAccepted(one), answerOf(one)]).toEqual([accepted, answer]);
});

test('the deliveries of an event to several receivers have names of their own', () => {
  const names = [null, 'whe_1', 'whe_2'].map((endpoint_id) =>
    deliveryOf({ event_id: 'evt_1', endpoint_id }),
  );
  expect(names).toEqual(['evt_1', 'evt_1/whe_1', 'evt_1/whe_2']);
});

test('the last attempt says how a delivery stands', () => {
  expect(stateOf([])).toBeNull();
  expect(stateOf([attempt(200), attempt(500)])).toBe('failed');
  expect(stateOf([attempt(500), attempt(200)])).toBe('delivered');
});

const at = (second: number): string => `2026-11-24T12:00:0${second}.000Z`;
const anEvent = (second: number): ListedEvent =>
  ({ event_id: `evt_${second}`, event: 'message.received', logged_at: at(second) }) as ListedEvent;
const aTest = (second: number, delivered = true): SentTest => ({
  event_id: `test_${second}`,
  event: 'webhook.test',
  delivered,
  http_status: delivered ? 200 : 503,
  duration_ms: 5,
  error: null,
  at: at(second),
});

test('lists test events among the events of the log by time, newest first', () => {
  const listed = withTests([anEvent(5), anEvent(3)], [aTest(6), aTest(4), aTest(1, false)]);
  expect(listed.map(({ event_id }) => event_id)).toEqual([
    'test_6',
    'evt_5',
    'test_4',
    'evt_3',
    'test_1',
  ]);
  expect(listed.at(-1)).toMatchObject({ event: 'webhook.test', delivery: { status: 'failed' } });
  expect(withTests([], [aTest(1)])).toHaveLength(1);
});

test('puts the outcome of a test in words, also of a destination, which has no status', () => {
  expect(outcomeOf(aTest(1, false))).toBe('HTTP 503 after 5 ms.');
  expect(outcomeOf({ ...aTest(1), http_status: null })).toBe('Stored after 5 ms.');
  const error = 'timeout';
  expect(outcomeOf({ ...aTest(1, false), http_status: null, error })).toBe(
    'No answer after 5 ms. timeout',
  );
});
