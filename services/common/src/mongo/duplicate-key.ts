// Writes that a unique index refused.
import { MongoBulkWriteError, type WriteError } from 'mongodb';

/** True for a write that a unique index refused. */
export const isDuplicateKey = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && (error as { code?: unknown }).code === 11_000;

/**
 * The operations of a bulk write that a unique index refused; the others were stored. Throws every
 * other error, after which the stored state is unknown. The driver wraps a lost connection in an
 * error of the same class, without an operation that failed.
 */
export function duplicatesIn(error: unknown): WriteError[] {
  if (!(error instanceof MongoBulkWriteError)) throw error;
  const refused = [error.writeErrors].flat();
  if (refused.length === 0 || !refused.every(isDuplicateKey)) throw error;
  // The other operations may be lost with the primary.
  if (error.result.getWriteConcernError()) throw error;
  return refused;
}
