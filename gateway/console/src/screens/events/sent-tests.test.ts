import { outcomeOf, withTests, type ListedEvent, type SentTest } from './sent-tests';

const at = (second: number): string => `2026-11-24T12:00:0${second}.000Z`;
const anEvent = (second: number): ListedEvent =>
  ({ event_id: `evt_${second}`, event: 'message.received', logged_at: at(second) }) as ListedEvent;
const aTest = (second: number, delivered = true): SentTest => ({
  event_id: `test_${second}`,
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
});

test('lists test events of an empty log', () => {
  expect(withTests([], [aTest(1)]).map(({ event_id }) => event_id)).toEqual(['test_1']);
});

test('puts the outcome of a test in words, also of a destination, which has no status', () => {
  expect(outcomeOf(aTest(1, false))).toBe('HTTP 503 after 5 ms.');
  expect(outcomeOf({ ...aTest(1), http_status: null })).toBe('Stored after 5 ms.');
  const error = 'timeout';
  expect(outcomeOf({ ...aTest(1, false), http_status: null, error })).toBe(
    'No answer after 5 ms. timeout',
  );
});
