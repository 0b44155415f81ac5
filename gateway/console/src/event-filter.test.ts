import type { KnownEvent } from './api/types';
import { checkedOf, chosenOf, countsOf, familiesOf, inWords, isSame, takes } from './event-filter';

const known = (event: string, summary = '', extra = false): KnownEvent => ({
  event,
  summary,
  extra,
});
const EVENTS = [
  known('message.received', 'A customer sent a message'),
  known('message.failed', 'A message could not be delivered'),
  known('group_lifecycle_update', 'A group was created'),
  known('call.connect', 'A call began', true),
];
const taken = (filter: readonly string[] | null) =>
  EVENTS.filter((one) => takes(filter, one)).map(({ event }) => event);

test('a filter takes the events and families that it names; none takes all but extra events', () => {
  expect(taken(null)).toEqual(['message.received', 'message.failed', 'group_lifecycle_update']);
  expect(taken(['message.*', 'call.connect'])).toEqual([
    'message.received',
    'message.failed',
    'call.connect',
  ]);
  expect(taken(['mess.*'])).toEqual([]);
});

test('groups events by family, and finds them by words of their name or purpose', () => {
  expect(familiesOf(EVENTS).map(({ name, filter }) => [name, filter])).toEqual([
    ['message', 'message.*'],
    ['group_lifecycle_update', null],
    ['call', 'call.*'],
  ]);
  const [found, ...others] = familiesOf(EVENTS, 'deliver MESSAGE');
  expect(found?.events).toEqual([EVENTS[1]]);
  expect(others).toEqual([]);
});

test('a chosen family checks the boxes of its events', () => {
  expect(checkedOf(['message.*', 'call.connect'], EVENTS)).toEqual([
    'message.*',
    'call.connect',
    'message.received',
    'message.failed',
  ]);
});

test.each([
  ['an event', [], ['call.connect'], ['call.connect']],
  ['a family', ['message.failed'], ['message.failed', 'message.*'], ['message.*']],
  [
    'no family any more',
    ['message.*', 'call.connect'],
    ['message.failed', 'call.connect'],
    ['call.connect'],
  ],
])('choosing %s changes only what belongs to it', (_name, before, checked, chosen) => {
  expect(chosenOf(before, checked)).toEqual(chosen);
});

test.each([
  [null, null, true],
  [null, [], false],
  [['call.*', 'message.*'], ['message.*', 'call.*'], true],
  [['call.*'], ['call.*', 'message.*'], false],
])('%j and %j are the same filter: %j', (one, other, same) => {
  expect(isSame(one, other)).toBe(same);
});

test('counts events by name', () => {
  expect([...countsOf([EVENTS[0], EVENTS[3], EVENTS[0]] as KnownEvent[])]).toEqual([
    ['message.received', 2],
    ['call.connect', 1],
  ]);
});

test('names two filters of a list, and counts the rest', () => {
  expect(inWords(null)).toBe('all');
  expect(inWords(['message.*', 'call.connect'])).toBe('message.*, call.connect');
  expect(inWords(['message.*', 'call.connect', 'client.failed'])).toBe(
    'message.*, call.connect and 1 other',
  );
});
