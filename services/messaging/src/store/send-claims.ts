// Claims of broadcast sends: one small document for each request id, with the latest attempt that was
// claimed or fenced. `send/claimed-send.ts` describes the protocol.
import {
  MongoBulkWriteError,
  type AnyBulkWriteOperation,
  type Collection,
  type Db,
  type IndexDescription,
} from 'mongodb';
import { createBatchWriter, isDuplicateKey } from '@bmg/common/mongo';
import { CLAIM, FENCE, RELEASE, type Transition } from './claim-rules';

/** One attempt to send under a request id. Attempts under one id are numbered in their order. */
export interface Attempt {
  request_id: string;
  attempt: number;
}

export interface ClaimScope {
  partner_id: string;
  waba_id: string;
}

export interface SendClaims {
  /** Resolves once the claim is stored; false if the rules refuse it: then the attempt must not be sent. */
  claim(scope: ClaimScope, attempt: Attempt): Promise<boolean>;
  /** The claimed attempt was certainly not sent. */
  release(attempt: Attempt): Promise<void>;
  /** Fences attempts; returns the request ids of those that can no longer be sent. */
  fence(scope: ClaimScope, attempts: readonly Attempt[]): Promise<Set<string>>;
}

interface StoredClaim extends ClaimScope {
  _id: string;
  state: 'claimed' | 'fenced';
  attempt: number;
  at: Date;
}

type Operation = AnyBulkWriteOperation<StoredClaim>;

/** Longer than a broadcast settles its sends: `SETTLED_FOR_MS` in broadcasts, with days to spare. */
const KEPT_DAYS = 7;
const DAY_S = 86_400;
/** As for message records: one more command costs far more than one more document. */
const BATCHES_APART_MS = 4;

export const SEND_CLAIMS = 'send_claims';
export const sendClaimIndexes: IndexDescription[] = [
  { key: { at: 1 }, expireAfterSeconds: KEPT_DAYS * DAY_S },
  { key: { partner_id: 1, waba_id: 1 } },
];

/**
 * While the database is slow or unavailable, claims that are not written yet are given up: if this process
 * died later, a stored claim would leave open whether its message went out.
 */
const WAIT_MAX_MS = 1_000;

interface Claiming {
  scope: ClaimScope;
  attempt: Attempt;
  progress: 'waiting' | 'given_up' | 'written';
  granted: boolean;
}

export function createSendClaims(db: Db, now: () => Date): SendClaims {
  const claims: Collection<StoredClaim> = db.collection(SEND_CLAIMS);
  const writer = createBatchWriter<Claiming>(
    async (all) => {
      const batch = all.filter(({ progress }) => progress === 'waiting');
      for (const one of batch) one.progress = 'written';
      const refused = await writeAll(
        claims,
        batch.map(({ scope, attempt }) => upsert(CLAIM, attempt, { ...scope, at: now() })),
      );
      for (const [at, one] of batch.entries()) one.granted = !refused.has(at);
    },
    { apart_ms: BATCHES_APART_MS },
  );
  return {
    async claim(scope, attempt) {
      const claiming: Claiming = { scope, attempt, progress: 'waiting', granted: false };
      await givenUpIfWaiting(claiming, writer.add(claiming));
      return claiming.granted;
    },
    async release(attempt) {
      await claims.updateOne(filterOf(RELEASE, attempt), { $set: { state: RELEASE.to } });
    },
    async fence(scope, attempts) {
      const refused = await writeAll(
        claims,
        attempts.map((attempt) => upsert(FENCE, attempt, { ...scope, at: now() })),
      );
      return new Set(
        attempts.filter((_, at) => !refused.has(at)).map(({ request_id }) => request_id),
      );
    },
  };
}

/** Rejects if the claim has not begun to be written in time; then it never will be. */
function givenUpIfWaiting(claiming: Claiming, stored: Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      if (claiming.progress !== 'waiting') return;
      claiming.progress = 'given_up';
      reject(new Error('the database is too slow for claims'));
    }, WAIT_MAX_MS);
    stored.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** The documents on which the rule allows the transition. */
const filterOf = ({ from, stored }: Transition, { request_id, attempt }: Attempt) => ({
  _id: request_id,
  state: { $in: [...from] },
  attempt: { [stored]: attempt },
});

/**
 * Moves the document, or creates it. If there is one that the rule does not allow to move, the
 * creation fails because its id is taken.
 */
const upsert = (
  transition: Transition,
  attempt: Attempt,
  fields: ClaimScope & { at: Date },
): Operation => ({
  updateOne: {
    filter: filterOf(transition, attempt),
    update: { $set: { ...fields, state: transition.to, attempt: attempt.attempt } },
    upsert: true,
  },
});

/** Returns the places of the operations that were refused. */
async function writeAll(
  claims: Collection<StoredClaim>,
  operations: Operation[],
): Promise<Set<number>> {
  if (operations.length === 0) return new Set();
  try {
    await claims.bulkWrite(operations, { ordered: false });
    return new Set();
  } catch (error) {
    if (!(error instanceof MongoBulkWriteError)) throw error;
    const failed = [error.writeErrors].flat();
    // Any other error leaves the stored state unknown: nothing counts as claimed or fenced.
    if (error.result.getWriteConcernError() || !failed.every(isDuplicateKey)) throw error;
    return new Set(failed.map(({ index }) => index));
  }
}
