// A page of the ledger, and its cursor: the period and the last entry.
import { invalidField } from '@bmg/common/errors';
import type { Period } from './months';
import type { Position } from './store/entries';
import type { Entry } from './entry';
import { describeLate, describeRecords, type OpenLedger } from './describe';

export interface Cursor extends Period {
  part: 'message' | 'late';
  at: Date;
  id: string;
}

const PARTS: readonly unknown[] = ['message', 'late'];

const writeCursor = ({ from, to, part, at, id }: Cursor): string =>
  Buffer.from(JSON.stringify([from, to, part, at.getTime(), id])).toString('base64url');

/** Throws INVALID_FIELD. */
export function readCursor(text: string): Cursor {
  let read: unknown;
  try {
    read = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    throw invalid();
  }
  const [from, to, part, at, id] = Array.isArray(read) ? (read as unknown[]) : [];
  const texts = [from, to, id].every((value) => typeof value === 'string');
  const time = new Date(typeof at === 'number' ? at : NaN);
  if (!texts || !PARTS.includes(part) || Number.isNaN(time.getTime())) throw invalid();
  return {
    from: from as string,
    to: to as string,
    part: part as Cursor['part'],
    at: time,
    id: id as string,
  };
}

const invalid = () => invalidField('after', 'is not a cursor: send `next` of the previous page');

/** The messages of the period first, then its late entries. */
export async function readPage(
  ledger: OpenLedger,
  cursor: Cursor | undefined,
  limit: number,
): Promise<{ entries: Entry[]; next: string | null }> {
  const { deps, scope, range, period } = ledger;
  const from = (part: Cursor['part']): Position | undefined =>
    cursor?.part === part ? { at: cursor.at, id: cursor.id } : undefined;
  // Fetches one extra row to detect a next page.
  const records =
    cursor?.part === 'late'
      ? []
      : await deps.ledgerEntries.page(scope, range, from('message'), limit + 1);
  const late =
    records.length > limit
      ? []
      : await deps.lateEntries.page(scope, range, from('late'), limit + 1 - records.length);
  const page = { records: records.slice(0, limit), late: late.slice(0, limit - records.length) };
  const [last_late, last_record] = [page.late.at(-1), page.records.at(-1)];
  const last: Omit<Cursor, keyof Period> | undefined = last_late
    ? { part: 'late', at: last_late.booked_at, id: last_late._id }
    : last_record && { part: 'message', at: last_record.sent_at, id: last_record._id };
  return {
    entries: [
      ...(await describeRecords(ledger, page.records)),
      ...(await describeLate(ledger, page.late)),
    ],
    next: last && records.length + late.length > limit ? writeCursor({ ...period, ...last }) : null,
  };
}
