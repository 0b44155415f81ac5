// Claims: documents whose ids only one writer can take. They are written in batches, and a caller
// acts only once its claim is stored.
import {
  type AnyBulkWriteOperation,
  type Collection,
  MongoBulkWriteError,
  type WriteError,
} from 'mongodb';
import { pause } from '../lifecycle';
import type { Logger } from '../telemetry';
import { createBatchWriter } from './batch-writer';
import { isDuplicateKey } from './duplicates';

/** One more command costs far more than one more document. */
const BATCHES_APART_MS = 4;
interface Claiming<T extends object> {
  operation: AnyBulkWriteOperation<T>;
  progress: 'waiting' | 'given_up' | 'written';
  granted: boolean;
}

/**
 * While the database is slow or unavailable, claims that are not written after `wait_max_ms` are
 * given up: if this process died later, a stored claim would leave open whether its work was done.
 */
export function createClaimWriter<T extends object>(claims: Collection<T>, wait_max_ms: number) {
  const writer = createBatchWriter<Claiming<T>>(
    async (all) => {
      const batch = all.filter(({ progress }) => progress === 'waiting');
      for (const one of batch) one.progress = 'written';
      const refused = await writeClaims(
        claims,
        batch.map(({ operation }) => operation),
      );
      for (const [at, one] of batch.entries()) one.granted = !refused.has(at);
    },
    { apart_ms: BATCHES_APART_MS },
  );
  /** Resolves once the claim is stored; false if its id is taken. Rejects if neither is certain. */
  return async (operation: AnyBulkWriteOperation<T>): Promise<boolean> => {
    const claiming: Claiming<T> = { operation, progress: 'waiting', granted: false };
    await givenUpIfWaiting(wait_max_ms, claiming, writer.add(claiming));
    return claiming.granted;
  };
}

/** Rejects if the claim has not begun to be written in time; then it never will be. */
function givenUpIfWaiting(
  wait_max_ms: number,
  claiming: Pick<Claiming<object>, 'progress'>,
  stored: Promise<void>,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      if (claiming.progress !== 'waiting') return;
      claiming.progress = 'given_up';
      reject(new Error('the database is too slow for claims'));
    }, wait_max_ms);
    stored.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** Returns the places of the operations that were refused because their ids are taken. */
export async function writeClaims<T extends object>(
  claims: Collection<T>,
  operations: AnyBulkWriteOperation<T>[],
): Promise<Set<number>> {
  if (operations.length === 0) return new Set();
  try {
    await claims.bulkWrite(operations, { ordered: false });
    return new Set();
  } catch (error) {
    return new Set(duplicatesIn(error).map(({ index }) => index));
  }
}

const SETTLE_TRIES_MAX = 30;
const SETTLE_RETRY_MS = 1_000;

/** Retries the write that ends a claim; never rejects. An unsettled claim leaves its outcome open. */
export async function settleClaim(write: () => Promise<unknown>, log: Logger): Promise<void> {
  for (let tries = 1; tries <= SETTLE_TRIES_MAX; tries += 1) {
    try {
      await write();
      return;
    } catch (err) {
      if (tries === SETTLE_TRIES_MAX) log.warn({ err }, 'failed to settle a claim');
      await pause(SETTLE_RETRY_MS);
    }
  }
}

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
