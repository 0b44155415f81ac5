// Days, hours and periods of UTC.
import { invalidField } from '../errors';

export const dayOf = (at: Date): string => at.toISOString().slice(0, 10);

/** The first moment of a day. */
export const dayStart = (day: string): Date => new Date(`${day}T00:00:00.000Z`);

/** True for a day that exists. */
export const isDay = (text: string): boolean =>
  /^\d{4}-\d{2}-\d{2}$/.test(text) && dayStart(text).toJSON()?.slice(0, 10) === text;

const HOUR_MS = 3_600_000;

interface Range {
  from: Date;
  /** Excluded. */
  to: Date;
}

/** The hours of a range, as pages of work on its documents. The last one ends with the range. */
export function hoursOf({ from, to }: Range): Range[] {
  const hours: Range[] = [];
  for (let at = from.getTime(); at < to.getTime(); at += HOUR_MS) {
    hours.push({ from: new Date(at), to: new Date(Math.min(at + HOUR_MS, to.getTime())) });
  }
  return hours;
}

export interface Period {
  from: Date | undefined;
  to: Date | undefined;
}

/** The period that a read is narrowed down to, from RFC 3339 texts. Throws INVALID_FIELD. */
export function periodOf(given: { from?: string | undefined; to?: string | undefined }): Period {
  const from = timeOf('from', given.from);
  const to = timeOf('to', given.to);
  if (from && to && to < from) throw invalidField('to', 'must not be before from');
  return { from, to };
}

function timeOf(field: 'from' | 'to', text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  // A plus sign that was not URL-encoded arrives as a space.
  const time = new Date(text.replace(' ', '+'));
  if (Number.isNaN(time.getTime())) {
    throw invalidField(field, 'must be an RFC 3339 date-time, for example 2026-09-01T12:00:00Z');
  }
  return time;
}
