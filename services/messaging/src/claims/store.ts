// Claims of broadcast sends: one small document for each request id, with the latest attempt that
// was claimed or fenced. `send/claimed-send.ts` describes the protocol.
import type { AnyBulkWriteOperation, Collection, Db, IndexDescription } from 'mongodb';
import { createClaimWriter, writeClaims } from '@bmg/common/mongo';

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

interface StoredClaim extends ClaimScope {
  _id: string;
  state: ClaimState;
  attempt: number;
  /** The note of a claimed attempt; null without one. */
  entry?: string | null;
  at: Date;
}

type ClaimState = 'claimed' | 'fenced';

/**
 * One row for each transition, used by the filters. A document holds the latest attempt under a
 * request id, claimed or fenced.
 */
interface Transition {
  /** Allowed from these states, and without a document. */
  from: readonly ClaimState[];
  /** How the stored attempt compares with the one of the transition. */
  stored: '$lt' | '$lte' | '$eq';
  to: ClaimState;
}

/** Before a send. The caller vouches that no earlier attempt can be sent any more. */
const CLAIM: Transition = { from: ['claimed', 'fenced'], stored: '$lt', to: 'claimed' };
/**
 * Neither this attempt nor an earlier one is sent any more. Refused once one of them is claimed.
 */
const FENCE: Transition = { from: ['fenced'], stored: '$lte', to: 'fenced' };
/** The claimed attempt certainly did not reach the upstream. Never creates a document. */
const RELEASE: Transition = { from: ['claimed'], stored: '$eq', to: 'fenced' };

/**
 * Longer than a broadcast settles its sends: `SETTLED_FOR_MS` in broadcasts, with days to spare.
 */
const KEPT_DAYS = 7;
const DAY_S = 86_400;
/** A broadcast sends later what could not be claimed in time. */
const WAIT_MAX_MS = 1_000;

export const SEND_CLAIMS = 'send_claims';
export const sendClaimIndexes: IndexDescription[] = [
  { key: { at: 1 }, expireAfterSeconds: KEPT_DAYS * DAY_S },
  { key: { partner_id: 1, waba_id: 1 } },
];

export function createSendClaims(db: Db, now: () => Date) {
  const claims: Collection<StoredClaim> = db.collection(SEND_CLAIMS);
  const write = createClaimWriter(claims, WAIT_MAX_MS);
  /** Returns the positions of those that were refused. */
  const fenceEach = (all: ReadonlyArray<ClaimScope & Attempt>): Promise<Set<number>> =>
    writeClaims(
      claims,
      all.map((one) => upsert(FENCE, one, { at: now() })),
    );
  return {
    /**
     * Resolves once the claim is stored; false if the rules refuse it: then the attempt must not be
     * sent. `entry` names the attempt's note in the journal of sends, if it has one.
     */
    claim: (scope: ClaimScope, attempt: Attempt, entry?: string): Promise<boolean> =>
      write(upsert(CLAIM, { ...scope, ...attempt }, { entry: entry ?? null, at: now() })),
    /** The attempt that was claimed with this entry was certainly not sent. */
    async release(attempt: Attempt, entry?: string): Promise<void> {
      await claims.updateOne(releaseFilter(attempt, entry), { $set: { state: RELEASE.to } });
    },
    /**
     * These attempts of a process that is dead were certainly not sent: they are fenced, whether
     * their claims are stored or still arrive. Returns how many are now fenced.
     */
    async releaseNoted(notes: readonly NotedAttempt[]): Promise<number> {
      // A claim may still be on its way from the dead process: the fence refuses it. One that is
      // stored refuses the fence.
      const claimed = await fenceEach(notes);
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
    /** Fences attempts; returns the request ids of those that can no longer be sent. */
    async fence(scope: ClaimScope, attempts: readonly Attempt[]): Promise<Set<string>> {
      const refused = await fenceEach(attempts.map((attempt) => ({ ...scope, ...attempt })));
      return new Set(
        attempts.filter((_, at) => !refused.has(at)).map(({ request_id }) => request_id),
      );
    },
  };
}

export type SendClaims = ReturnType<typeof createSendClaims>;

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
  { request_id, attempt, partner_id, waba_id }: ClaimScope & Attempt,
  fields: { entry?: string | null; at: Date },
): AnyBulkWriteOperation<StoredClaim> => ({
  updateOne: {
    filter: filterOf(transition, { request_id, attempt }),
    update: { $set: { partner_id, waba_id, ...fields, state: transition.to, attempt } },
    upsert: true,
  },
});
