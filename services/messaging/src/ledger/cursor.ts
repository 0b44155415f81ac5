// The cursor of a ledger page: its period and the last entry. Pure.
import { invalidField } from '@bmg/common/errors';
import type { Period } from './months';

export interface Cursor extends Period {
  part: 'message' | 'late';
  at: Date;
  id: string;
}

const PARTS: readonly unknown[] = ['message', 'late'];

export const writeCursor = ({ from, to, part, at, id }: Cursor): string =>
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
