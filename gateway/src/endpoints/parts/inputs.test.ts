// Shapes of inputs: the document publishes the shapes that the validators enforce.
import { taken } from '../../../../test/contract/rows';

const accepts = (name: string, value: object): boolean => {
  try {
    taken(name, value);
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
    expect(accepts('GET /usage', { from: day })).toBe(exists);
    expect(accepts('GET /usage/ledger', { from: day })).toBe(exists);
    for (const name of ['GET /usage', 'GET /events', 'GET /messages']) {
      expect(accepts(name, { to: `${day}T12:00:00Z` })).toBe(exists);
      // A plus sign that was not URL-encoded.
      expect(accepts(name, { to: `${day}T12:00:00 02:00` })).toBe(exists);
    }
  });
});

test('hours, minutes and seconds are those of a day', () => {
  for (const time of ['24:00:00', '12:60:00', '12:00:60', '1:00:00']) {
    expect(accepts('GET /events', { from: `2026-09-01T${time}Z` })).toBe(false);
  }
  expect(accepts('GET /events', { from: '2026-09-01T23:59:59.999999999-11:30' })).toBe(true);
});

test('a cursor has the characters of base64url, without padding', () => {
  expect(accepts('GET /messages', { cursor: 'MTc5' })).toBe(true);
  for (const cursor of ['MTc5=', 'a b', 'ü'])
    expect(accepts('GET /messages', { cursor })).toBe(false);
});

test('event names are separated by commas, and none is empty', () => {
  for (const event of ['message.received', 'message.received, message.failed']) {
    expect(accepts('GET /events', { event })).toBe(true);
  }
  for (const event of [',', 'a,', ' ', 'a,,b', '../a', 'a,'.repeat(50) + 'a']) {
    expect(accepts('GET /events', { event })).toBe(false);
  }
});

test('a replay has a period or events', () => {
  const body = (value: object): boolean => accepts('POST /events/replay', value);
  expect(body({ from: '2026-09-01T12:00:00Z' })).toBe(true);
  expect(body({ event_ids: ['evt_1'] })).toBe(true);
  for (const value of [{}, { to: '2026-09-01T12:00:00Z' }, { event_ids: [] }]) {
    expect(body(value)).toBe(false);
  }
});
