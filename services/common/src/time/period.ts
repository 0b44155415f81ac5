// The period that a read is narrowed down to: RFC 3339 text in fields `from` and `to`.
import { invalidField } from '../errors';

export interface Period {
  from: Date | undefined;
  to: Date | undefined;
}

/** Throws INVALID_FIELD naming the field. */
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
