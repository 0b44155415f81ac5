// The periods of the figures, in whole UTC days as the usage record counts them.
const DAY_MS = 24 * 3_600_000;
export type Period = 'day' | 'week' | 'month';

export const PERIODS: Array<{ value: Period; label: string }> = [
  { value: 'day', label: 'Today' },
  { value: 'week', label: '7 days' },
  { value: 'month', label: '30 days' },
];
const DAYS: Record<Period, number> = { day: 1, week: 7, month: 30 };

export const dayOf = (time: Date): string => time.toISOString().slice(0, 10);

export function periodOf(period: Period, now = new Date()): { from: string; to: string } {
  const from = new Date(now.getTime() - (DAYS[period] - 1) * DAY_MS);
  return { from: dayOf(from), to: dayOf(now) };
}

const counts = new Intl.NumberFormat();
export const countOf = (value: number): string => counts.format(value);

/** `1 contact`, `2 contacts`. */
export const nounOf = (value: number, noun: string): string =>
  `${countOf(value)} ${noun}${value === 1 ? '' : 's'}`;

const percents = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 });
export const percent = (part: number, whole: number): string =>
  whole === 0 ? '–' : percents.format(part / whole);

const MINUTE_S = 60;
const HOUR_S = 3_600;
const unit = (value: number, name: string): string =>
  new Intl.NumberFormat(undefined, { style: 'unit', unit: name, unitDisplay: 'short' }).format(
    value,
  );

/** The two largest units: `8 min 26 sec`. */
export function durationOf(seconds: number): string {
  const parts: Array<[number, string]> =
    seconds >= HOUR_S
      ? [
          [Math.floor(seconds / HOUR_S), 'hour'],
          [Math.round((seconds % HOUR_S) / MINUTE_S), 'minute'],
        ]
      : [
          [Math.floor(seconds / MINUTE_S), 'minute'],
          [Math.ceil(seconds % MINUTE_S), 'second'],
        ];
  const shown = parts.filter(([value]) => value > 0);
  return shown.map(([value, name]) => unit(value, name)).join(' ') || unit(0, 'second');
}
