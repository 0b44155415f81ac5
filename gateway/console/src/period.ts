// The periods of the figures, in whole UTC days as the usage record counts them.
export const DAY_MS = 24 * 3_600_000;
export type Period = 'day' | 'week' | 'month';

export const PERIODS: Array<{ value: Period; label: string }> = [
  { value: 'day', label: 'Today' },
  { value: 'week', label: '7 days' },
  { value: 'month', label: '30 days' },
];
const DAYS: Record<Period, number> = { day: 1, week: 7, month: 30 };

/** The first and the last day of a period. */
export interface Days {
  from: string;
  to: string;
}

export const dayOf = (time: Date): string => time.toISOString().slice(0, 10);
/** The UTC day so many days before a time. */
export const dayBefore = (time_ms: number, days: number): string =>
  dayOf(new Date(time_ms - days * DAY_MS));

const words = new Intl.DateTimeFormat(undefined, { dateStyle: 'long', timeZone: 'UTC' });
/** A UTC day in words: `1 October 2026`. */
export const dayInWords = (day: string): string => words.format(new Date(`${day}T00:00:00Z`));

export function periodOf(period: Period, now = new Date()): Days {
  return { from: dayBefore(now.getTime(), DAYS[period] - 1), to: dayOf(now) };
}

/** The period of the same length that ends on the day before. */
export function periodBefore({ from, to }: Days): Days {
  const [first, last] = [Date.parse(from), Date.parse(to)];
  return { from: dayBefore(first - (last - first), 1), to: dayBefore(first, 1) };
}

/** Every day from the first to the last one. */
export function daysOf({ from, to }: Days): string[] {
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1;
  return Array.from({ length: days }, (_, at) => dayOf(new Date(Date.parse(from) + at * DAY_MS)));
}

const counts = new Intl.NumberFormat();
export const countOf = (value: number): string => counts.format(value);

/** `1 contact`, `2 contacts`. */
export const nounOf = (value: number, noun: string): string =>
  `${countOf(value)} ${noun}${value === 1 ? '' : 's'}`;

const percents = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 });
export const percent = (part: number, whole: number): string =>
  whole === 0 ? '–' : percents.format(part / whole);

/** `+12.5%`: by how much a count differs from the one before; empty if there was none. */
export const changeOf = (value: number, before: number): string =>
  before === 0 ? '' : changes.format((value - before) / before);

const changes = new Intl.NumberFormat(undefined, {
  style: 'percent',
  maximumFractionDigits: 0,
  signDisplay: 'exceptZero',
});

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
