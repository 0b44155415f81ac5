// Shapes of inputs: the document publishes the shapes that the validators enforce.
import { getLedger } from '../ledger/schemas';
import { listMessages } from '../messages/log-schemas';
import { getUsage } from '../onboarding/schemas';
import { listEvents, replayEvents } from '../events/schemas';
import { compile, type Schema } from './schema';

const accepts = (schema: Schema, value: object, kind: 'query' | 'body' = 'query'): boolean => {
  try {
    compile(schema, kind)(value);
    return true;
  } catch {
    return false;
  }
};

describe.each([
  ['2026-09-30', true],
  ['2026-09-31', false],
  ['2024-02-29', true],
  ['2000-02-29', true],
  ['1900-02-29', false],
  ['2026-02-29', false],
  ['2026-13-01', false],
  ['2026-00-10', false],
])('the day %s', (day, exists) => {
  test(`is ${exists ? 'accepted' : 'refused'} by itself and in a time`, () => {
    expect(accepts(getUsage, { from: day })).toBe(exists);
    expect(accepts(getLedger, { from: day })).toBe(exists);
    for (const schema of [getUsage, listEvents, listMessages]) {
      expect(accepts(schema, { to: `${day}T12:00:00Z` })).toBe(exists);
      // A plus sign that was not URL-encoded.
      expect(accepts(schema, { to: `${day}T12:00:00 02:00` })).toBe(exists);
    }
  });
});

test('hours, minutes and seconds are those of a day', () => {
  for (const time of ['24:00:00', '12:60:00', '12:00:60', '1:00:00']) {
    expect(accepts(listEvents, { from: `2026-09-01T${time}Z` })).toBe(false);
  }
  expect(accepts(listEvents, { from: '2026-09-01T23:59:59.999999999-11:30' })).toBe(true);
});

test('a cursor has the characters of base64url, without padding', () => {
  expect(accepts(listMessages, { cursor: 'MTc5' })).toBe(true);
  for (const cursor of ['MTc5=', 'a b', 'ü']) expect(accepts(listMessages, { cursor })).toBe(false);
});

test('event names are separated by commas, and none is empty', () => {
  for (const event of ['message.received', 'message.received, message.failed']) {
    expect(accepts(listEvents, { event })).toBe(true);
  }
  for (const event of [',', 'a,', ' ', 'a,,b', '../a', 'a,'.repeat(50) + 'a']) {
    expect(accepts(listEvents, { event })).toBe(false);
  }
});

test('a replay has a period or events', () => {
  const body = (value: object): boolean => accepts(replayEvents, value, 'body');
  expect(body({ from: '2026-09-01T12:00:00Z' })).toBe(true);
  expect(body({ event_ids: ['evt_1'] })).toBe(true);
  for (const value of [{}, { to: '2026-09-01T12:00:00Z' }, { event_ids: [] }]) {
    expect(body(value)).toBe(false);
  }
});
