import { hoursOf } from '.';

const at = (time: string): Date => new Date(`2026-09-01T${time}Z`);

test('divides a range into hours without a gap; the last one ends with it', () => {
  expect(hoursOf({ from: at('08:30:00'), to: at('10:00:00') })).toEqual([
    { from: at('08:30:00'), to: at('09:30:00') },
    { from: at('09:30:00'), to: at('10:00:00') },
  ]);
  expect(hoursOf({ from: at('08:30:00'), to: at('08:30:00') })).toEqual([]);
});
