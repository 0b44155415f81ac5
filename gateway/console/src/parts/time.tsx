// Times in the reader's time zone, with the name of the zone; UTC on hover.
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const short = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  timeZoneName: 'short',
});
const exact = new Intl.DateTimeFormat(undefined, {
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  timeZoneName: 'short',
});
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });

const utc = (time: Date): string => `${time.toISOString().slice(0, 19).replace('T', ' ')} UTC`;

/** The reader's zone: `Asia/Tokyo (GMT+9)`. */
export function zoneName(): string {
  const parts = short.formatToParts(new Date());
  const offset = parts.find(({ type }) => type === 'timeZoneName')?.value ?? '';
  return `${short.resolvedOptions().timeZone} (${offset})`;
}

function agoOf(time: Date, now: number): string {
  const distance = time.getTime() - now;
  const size = Math.abs(distance);
  if (size < HOUR_MS) return relative.format(Math.round(distance / MINUTE_MS), 'minute');
  if (size < DAY_MS) return relative.format(Math.round(distance / HOUR_MS), 'hour');
  return relative.format(Math.round(distance / DAY_MS), 'day');
}

export interface TimeProps {
  value: string | null | undefined;
  /** short: day and minute. exact: with seconds. ago: the distance from now. */
  as?: 'short' | 'exact' | 'ago';
}

export function Time({ value, as = 'short' }: TimeProps) {
  if (!value) return <span>–</span>;
  const time = new Date(value);
  const text =
    as === 'ago' ? agoOf(time, Date.now()) : (as === 'exact' ? exact : short).format(time);
  return (
    <time
      dateTime={value}
      title={as === 'ago' ? `${exact.format(time)} · ${utc(time)}` : utc(time)}
    >
      {text}
    </time>
  );
}
