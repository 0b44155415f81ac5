import { refusal } from '../../../test/refusal';
import { changeThresholds, failureRate, MESSAGES_MIN } from './rules';

test('changes the named thresholds and keeps the others', () => {
  const before = { failure_rate: '5', unpaid_slots: 'true' };
  expect(changeThresholds(before, { failure_rate: '', spend_per_day: '0.50' })).toEqual({
    unpaid_slots: 'true',
    spend_per_day: '0.50',
  });
  expect(before).toEqual({ failure_rate: '5', unpaid_slots: 'true' });
});

test.each([
  ['spend_per_day', '0.00'],
  ['spend_per_day', '-1'],
  ['spend_per_day', '1e3'],
  ['failure_rate', '0'],
  ['failure_rate', '101'],
  ['webhook_failures', '01'],
  ['quality_drops', 'yes'],
  ['toString', 'true'],
])('refuses %s %s and names it', (cause, threshold) => {
  expect(() => changeThresholds({}, { [cause]: threshold })).toThrow(
    refusal('INVALID_FIELD', { field: `alerts.${cause}` }),
  );
});

test.each([
  [{ sent: MESSAGES_MIN - 1, failed: 5 }, undefined],
  [{ sent: 100, failed: 5 }, 5],
  [{ sent: 0, failed: 40 }, 100],
  [{ sent: 1_000, failed: 19 }, 1],
])('of %j messages %s percent failed', (counts, rate) => {
  expect(failureRate(counts)).toBe(rate);
});
