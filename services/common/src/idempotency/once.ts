// Does the work of a request with an Idempotency-Key at most once, also after Redis has lost the
// gateway's record of it.
//
// | The claim of the partner's key | The request |
// |---|---|
// | none | claims it, then does the work |
// | has another fingerprint | 422 |
// | has an answer, here or in a record of the service | gets the first answer again |
// | has none, and its process may be at work | 409 |
// | has none, and its process must have ended | 502 with an unknown outcome |
//
// A failure that proves that nothing was done releases the claim. A claim that cannot be stored
// refuses the request.
import { createHash } from 'node:crypto';
import type { Db, Collection, IndexDescription } from 'mongodb';
import type { Target } from '@bmg/proto/common';
import { toApiError } from '../errors';
import { within } from '../lifecycle';
import { settleClaim, createClaimWriter } from '../mongo';
import type { Call, Codec } from '../rpc';
import type { Logger } from '../telemetry';
import { cannotProtect, earlierUnknown, keyInUse, keyReused, outcomeOf } from './outcome';

/** Contract 15.2: 24 hours. */
export const RETENTION_MS = 24 * 3_600_000;
/** A busy second refuses no request: nothing else protects it. */
const CLAIM_WAIT_MS = 5_000;

/** A document for each partner and key. It outlives Redis, which holds the gateway's records. */
interface RequestClaim {
  /** The identity of the request. */
  _id: string;
  fingerprint: string;
  /** The run that holds the claim. */
  request_id: string;
  /** Until then its process may still be at work. */
  until: Date;
  at: Date;
  /** The encoded reply, if the service has no other record of the work. */
  reply?: Buffer;
}

export const REQUEST_CLAIMS = 'request_claims';
export const requestClaimIndexes: IndexDescription[] = [
  { key: { at: 1 }, expireAfterSeconds: RETENTION_MS / 1_000 },
];

/** The key is hashed: it may be long, and may contain personal data. */
export const identityOf = (partner_id: string, key: string): string =>
  `${partner_id}/${createHash('sha256').update(key).digest('base64url')}`;

interface Targeted {
  target?: Target | undefined;
}

type Handler<Q, R> = (request: Q, call: Call) => Promise<R>;

/** Where the first answer is read: stored with the claim, or found in a record of the service. */
export type Memory<Q, R> =
  { codec: Codec<R> } | { find(request: Q, request_id: string): Promise<R | undefined> };

/** Wraps the handler of an RPC. Requests without a key pass unchanged. */
export interface Once {
  <Q extends Targeted, R>(work: Handler<Q, R>, memory: Memory<Q, R>): Handler<Q, R>;
}

/** Larger replies are not stored: a repeat then learns only that the outcome is unknown. */
export const REPLY_LIMIT_BYTES = 64 * 1024;
/** Added to the deadline of the call, after which its process counts as ended. */
const LEASE_MARGIN_MS = 5_000;
/** The answer waits this long for the claim to be settled, which goes on in the background. */
const SETTLE_WAIT_MS = 2_000;
/** Takes an expired claim over, or one that was released meanwhile. */
const CLAIM_TRIES_MAX = 3;

interface OnceDependencies {
  db: Db;
  now: () => Date;
  log: Logger;
}

export function createOnce({ db, now, log }: OnceDependencies): Once {
  const claims: Collection<RequestClaim> = db.collection(REQUEST_CLAIMS);
  const write = createClaimWriter(claims, CLAIM_WAIT_MS);
  /** Frees the identity if this run holds it. */
  const release = ({ _id, request_id }: RequestClaim) => claims.deleteOne({ _id, request_id });
  const settle = (write: () => Promise<unknown>): Promise<void> =>
    within(SETTLE_WAIT_MS, settleClaim(write, log)).catch(() => undefined);

  /** Returns the claim of an earlier request if there is one. */
  const claim = async (mine: RequestClaim): Promise<RequestClaim | undefined> => {
    try {
      for (let tries = 1; tries <= CLAIM_TRIES_MAX; tries += 1) {
        if (await write({ insertOne: { document: mine } })) return undefined;
        const earlier = await claims.findOne({ _id: mine._id }, { promoteBuffers: true });
        if (earlier && now().getTime() - earlier.at.getTime() < RETENTION_MS) return earlier;
        if (earlier) await release(earlier);
      }
    } catch (cause) {
      // It may be stored, but no work follows.
      void settleClaim(() => release(mine), log);
      throw cannotProtect(cause);
    }
    throw keyInUse();
  };

  const perform = async <R>(mine: RequestClaim, work: () => Promise<R>): Promise<R> => {
    try {
      return await work();
    } catch (error) {
      if (outcomeOf(toApiError(error)) !== 'unknown') await settle(() => release(mine));
      throw error;
    }
  };

  return (work, memory) => async (request, call) => {
    const { idempotency } = call;
    const { partner_id } = request.target ?? {};
    if (idempotency?.given === undefined || partner_id === undefined) return work(request, call);
    const mine: RequestClaim = {
      _id: identityOf(partner_id, idempotency.given),
      fingerprint: idempotency.fingerprint,
      request_id: idempotency.key,
      until: new Date(call.deadline + LEASE_MARGIN_MS),
      at: now(),
    };
    const earlier = await claim(mine);
    if (earlier) {
      if (earlier.fingerprint !== mine.fingerprint) throw keyReused();
      const reply =
        'find' in memory
          ? await memory.find(request, earlier.request_id)
          : earlier.reply && memory.codec.decode(earlier.reply);
      if (reply === undefined) throw now() < earlier.until ? keyInUse() : earlierUnknown();
      idempotency.replayed = true;
      return reply;
    }
    const reply = await perform(mine, () => work(request, call));
    if ('codec' in memory) {
      const bytes = memory.codec.encode(reply).finish();
      const { _id, request_id } = mine;
      const done = { $set: { reply: Buffer.from(bytes) } };
      if (bytes.length <= REPLY_LIMIT_BYTES) {
        await settle(() => claims.updateOne({ _id, request_id }, done));
      }
    }
    return reply;
  };
}
