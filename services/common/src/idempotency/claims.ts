// The claims of requests with an Idempotency-Key in the database of the service that acts: one
// document for each partner and key. They outlive Redis, which holds the gateway's records.
import { createHash } from 'node:crypto';
import type { Collection, Db, IndexDescription } from 'mongodb';
import { createClaimWriter } from '../mongo';

/** Contract 15.2: 24 hours. */
export const RETENTION_MS = 24 * 3_600_000;

export interface RequestClaim {
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

export interface RequestClaims {
  /** Resolves once the claim is stored; false if there is one already. */
  claim(claim: RequestClaim): Promise<boolean>;
  find(identity: string): Promise<RequestClaim | null>;
  /** Stores the reply with the claim of this run. */
  complete(claim: RequestClaim, reply: Uint8Array): Promise<void>;
  /** Frees the identity if this run holds it. */
  release(claim: RequestClaim): Promise<void>;
}

/** A busy second refuses no request: nothing else protects it. */
const WAIT_MAX_MS = 5_000;

export const REQUEST_CLAIMS = 'request_claims';
export const requestClaimIndexes: IndexDescription[] = [
  { key: { at: 1 }, expireAfterSeconds: RETENTION_MS / 1_000 },
];

/** The key is hashed: it may be long, and may contain personal data. */
export const identityOf = (partner_id: string, key: string): string =>
  `${partner_id}/${createHash('sha256').update(key).digest('base64url')}`;

export function createRequestClaims(db: Db): RequestClaims {
  const claims: Collection<RequestClaim> = db.collection(REQUEST_CLAIMS);
  const write = createClaimWriter(claims, WAIT_MAX_MS);
  return {
    claim: (document) => write({ insertOne: { document } }),
    find: (_id) => claims.findOne({ _id }, { promoteBuffers: true }),
    async complete({ _id, request_id }, reply) {
      await claims.updateOne({ _id, request_id }, { $set: { reply: Buffer.from(reply) } });
    },
    async release({ _id, request_id }) {
      await claims.deleteOne({ _id, request_id });
    },
  };
}
