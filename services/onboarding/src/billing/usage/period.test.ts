import { refusal } from '../../../test/refusal';
import { usagePeriod } from './period';

const now = new Date('2026-09-14T12:30:00.000Z');

describe('the period of a usage report', () => {
  it('is the current month until now by default', () => {
    expect(usagePeriod({}, now)).toEqual({
      from: new Date('2026-09-01T00:00:00.000Z'),
      to: now,
      from_day: '2026-09-01',
      to_day: '2026-09-14',
    });
  });

  it('starts with the month in which it ends', () => {
    const to = new Date('2026-07-20T23:59:59.999Z');
    expect(usagePeriod({ to }, now).from_day).toBe('2026-07-01');
  });

  it('ends now by default', () => {
    const from = new Date('2026-08-20T00:00:00.000Z');
    expect(usagePeriod({ from }, now)).toMatchObject({ from_day: '2026-08-20', to: now });
  });

  it('must not be reversed or longer than counters are kept', () => {
    const reversed = { from: new Date('2026-09-10'), to: new Date('2026-09-09') };
    for (const given of [reversed, { from: new Date('2020-01-01') }]) {
      expect(() => usagePeriod(given, now)).toThrow(refusal('INVALID_FIELD', { field: 'from' }));
    }
  });
});
