// Claims of broadcast sends: one small document for each request id, with the latest attempt that was
// claimed or fenced. `send/claimed-send.ts` describes the protocol.
import type { AnyBulkWriteOperation, Collection, Db, IndexDescription } from 'mongodb';
import { createClaimWriter, writeClaims } from '@bmg/common/mongo';
import { CLAIM, FENCE, RELEASE, type Transition } from './rules';

/** One attempt to send under a request id. Attempts under one id are numbered in their order. */
export interface Attempt {
  request_id: string;
  attempt: number;
}

export interface ClaimScope {
  partner_id: string;
  waba_id: string;
}

/** An attempt with its note in the journal of sends. */
export interface NotedAttempt extends Attempt, ClaimScope {
  /** Also stored with the claim: unique among all attempts of all processes. */
  entry: string;
}

export interface SendClaims {
  /**
   * Resolves once the claim is stored; false if the rules refuse it: then the attempt must not be sent.
   * `entry` names the attempt's note in the journal of sends, if it has one.
   */
  claim(scope: ClaimScope, attempt: Attempt, entry?: string): Promise<boolean>;
  /** The attempt that was claimed with this entry was certainly not sent. */
  release(attempt: Attempt, entry?: string): Promise<void>;
  /**
   * These attempts of a process that is dead were certainly not sent: they are fenced, whether their claims
   * are stored or still arrive. Returns how many are now fenced.
   */
  releaseNoted(notes: readonly NotedAttempt[]): Promise<number>;
  /** Fences attempts; returns the request ids of those that can no longer be sent. */
  fence(scope: ClaimScope, attempts: readonly Attempt[]): Promise<Set<string>>;
}

interface StoredClaim extends ClaimScope {
  _id: string;
  state: 'claimed' | 'fenced';
  attempt: number;
  /** Names the note of a claimed attempt. Null without one, absent in claims of the previous release. */
  entry?: string | null;
  at: Date;
}

type Operation = AnyBulkWriteOperation<StoredClaim>;

/** Longer than a broadcast settles its sends: `SETTLED_FOR_MS` in broadcasts, with days to spare. */
const KEPT_DAYS = 7;
const DAY_S = 86_400;
/** A broadcast sends later what could not be claimed in time. */
const WAIT_MAX_MS = 1_000;

export const SEND_CLAIMS = 'send_claims';
export const sendClaimIndexes: IndexDescription[] = [
  { key: { at: 1 }, expireAfterSeconds: KEPT_DAYS * DAY_S },
  { key: { partner_id: 1, waba_id: 1 } },
];

export function createSendClaims(db: Db, now: () => Date): SendClaims {
  const claims: Collection<StoredClaim> = db.collection(SEND_CLAIMS);
  const write = createClaimWriter(claims, WAIT_MAX_MS);
  /** Returns the positions of those that were refused. */
  const fenceEach = (
    all: ReadonlyArray<{ scope: ClaimScope; attempt: Attempt }>,
  ): Promise<Set<number>> =>
    writeClaims(
      claims,
      all.map(({ scope, attempt }) => upsert(FENCE, attempt, { ...scope, at: now() })),
    );
  return {
    claim: (scope, attempt, entry) =>
      write(upsert(CLAIM, attempt, { ...scope, entry: entry ?? null, at: now() })),
    async release(attempt, entry) {
      await claims.updateOne(releaseFilter(attempt, entry), { $set: { state: RELEASE.to } });
    },
    async releaseNoted(notes) {
      // A claim may still be on its way from the dead process: the fence refuses it. One that is stored
      // refuses the fence.
      const claimed = await fenceEach(
        notes.map(({ request_id, attempt, partner_id, waba_id }) => ({
          scope: { partner_id, waba_id },
          attempt: { request_id, attempt },
        })),
      );
      const stored = notes.filter((_, at) => claimed.has(at));
      if (stored.length === 0) return notes.length;
      const { modifiedCount } = await claims.bulkWrite(
        stored.map(({ entry, ...attempt }) => ({
          updateOne: {
            filter: releaseFilter(attempt, entry),
            update: { $set: { state: RELEASE.to } },
          },
        })),
        { ordered: false },
      );
      return notes.length - stored.length + modifiedCount;
    },
    async fence(scope, attempts) {
      const refused = await fenceEach(attempts.map((attempt) => ({ scope, attempt })));
      return new Set(
        attempts.filter((_, at) => !refused.has(at)).map(({ request_id }) => request_id),
      );
    },
  };
}

/** The documents on which the rule allows the transition. */
const filterOf = ({ from, stored }: Transition, { request_id, attempt }: Attempt) => ({
  _id: request_id,
  state: { $in: [...from] },
  attempt: { [stored]: attempt },
});

/** Another arrival of the same attempt may have claimed it: that one is not released. */
const releaseFilter = (attempt: Attempt, entry: string | undefined) => ({
  ...filterOf(RELEASE, attempt),
  entry: entry ?? null,
});

/**
 * Moves the document, or creates it. If there is one that the rule does not allow to move, the
 * creation fails because its id is taken.
 */
const upsert = (
  transition: Transition,
  attempt: Attempt,
  fields: ClaimScope & { entry?: string | null; at: Date },
): Operation => ({
  updateOne: {
    filter: filterOf(transition, attempt),
    update: { $set: { ...fields, state: transition.to, attempt: attempt.attempt } },
    upsert: true,
  },
});
