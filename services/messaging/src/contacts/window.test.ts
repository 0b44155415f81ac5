import { windowOf } from './window';

const NOW = new Date('2026-11-20T12:00:00Z');
const LONG_AGO = new Date('2026-01-01T00:00:00Z');
const hoursAgo = (hours: number): Date => new Date(NOW.getTime() - hours * 3_600_000);
const window = (...[conversation, since = LONG_AGO]: [object?, Date?]) =>
  windowOf(conversation, since, NOW);

test('is open for 24 hours after the customer’s last message', () => {
  expect(window({ inbound_at: hoursAgo(23.9) })).toMatchObject({
    state: 'open',
    since: hoursAgo(23.9).toISOString(),
    until: hoursAgo(-0.1).toISOString(),
  });
  expect(window({ inbound_at: hoursAgo(24) })).toMatchObject({
    state: 'closed',
    since: NOW.toISOString(),
    until: null,
  });
});

test('is unknown without a message while the number is known for less than 24 hours', () => {
  expect(window(undefined, hoursAgo(23)).state).toBe('unknown');
  expect(window(undefined, hoursAgo(25)).state).toBe('closed');
  expect(window({ inbound_at: hoursAgo(1) }, hoursAgo(2)).state).toBe('open');
});

test.each([
  ['closed without a message from an ad', {}, 'closed'],
  ['open for the answer within 24 hours', { entry_at: hoursAgo(23) }, 'open'],
  ['closed when nothing answered in time', { entry_at: hoursAgo(25) }, 'closed'],
  [
    'open for 72 hours once answered',
    { entry_at: hoursAgo(71), free_entry_at: hoursAgo(70) },
    'open',
  ],
  ['closed after that', { entry_at: hoursAgo(72), free_entry_at: hoursAgo(70) }, 'closed'],
  [
    'not opened by the answer to an earlier ad',
    { entry_at: hoursAgo(30), free_entry_at: hoursAgo(40) },
    'closed',
  ],
])('the free entry point window is %s', (_name, conversation, state) => {
  expect(window(conversation).entry_point.state).toBe(state);
});
