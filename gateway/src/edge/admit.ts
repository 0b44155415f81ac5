// Authentication and rate limit. Together they cost one round trip to the shared store: the
// bucket's script also returns the partner's directory version, which shows whether a cached caller
// is stale.
import type { Context } from 'koa';
import { ApiError } from '@bmg/common/errors';
import { waitedFor } from '@bmg/common/telemetry';
import type { Authenticator } from '../auth/authenticate';
import {
  countRefusal,
  isExpired,
  refusalOf,
  type AnyScope,
  type Restriction,
} from '../auth/restriction';
import type { SessionAuthenticator } from '../auth/session-token';
import type { Endpoint } from '../endpoints/endpoint';
import type { Bucket, RateLimitResult } from '../limits/bucket';
import { rateLimited } from '../limits/rate-limited';
import type { State } from './state';

export interface AdmitDependencies {
  authenticator: Authenticator;
  sessions: SessionAuthenticator;
  bucket: Bucket;
}

export interface Admitted {
  partner_id: string;
  /** Set when a connect token was sent instead of a key. */
  session_id?: string;
  /** What limits an API key or a person; absent for the partner key. */
  restriction?: Restriction | undefined;
  /** The partner's setting: broadcasts to more contacts wait for approval. */
  approval_above?: number | undefined;
  /** May be a refusal: the chain throws it, so that the usage record counts the call. */
  rate_limit: RateLimitResult;
}

/** What decides how a request is admitted. */
export type Admission = Pick<
  Endpoint,
  'verb' | 'scope' | 'counted' | 'key_scope' | 'person_only' | 'fresh_log_in'
> &
  AnyScope;

export const KEY = 'x-partner-key';
const CONNECT_TOKEN = 'x-connect-token';

/** Requests a second with a connect token: a browser must not use up the partner's bucket. */
export const CONNECT_TOKEN_PER_SEC = 5;

/** Throws unless the request carries a valid key, or a connect token if the row takes one. */
export async function admit(
  context: Context,
  endpoint: Admission,
  deps: AdmitDependencies,
): Promise<Admitted> {
  const key = context.get(KEY).trim();
  if (key) return admitPartner(context, key, endpoint, deps);
  const token = endpoint.scope === 'session' ? context.get(CONNECT_TOKEN).trim() : '';
  if (!token) throw new ApiError('UNAUTHORIZED', `the header ${KEY} is required`);
  return admitSession(context, token, deps);
}

/**
 * No token of the bucket is taken before the key is known to be valid:
 *
 * | Cached caller | First call of the bucket | Then |
 * |---|---|---|
 * | of the partner's version | takes a token | admitted |
 * | stale, or without a version | reads the version | looked up; if still valid, takes a token |
 * | of any age, at an endpoint that is not counted | reads the version | admitted if still valid |
 * | an API key that may not call the endpoint | reads the version | refused, if its key is
 * unchanged |
 */
async function admitPartner(
  context: Context,
  key: string,
  endpoint: Admission,
  { authenticator, bucket }: AdmitDependencies,
): Promise<Admitted> {
  const { counted = true } = endpoint;
  const state = context.state as State;
  const { call } = state;
  const known = await authenticator.identify(key, context.ip, call);
  const { partner_id } = known.caller;
  const cached = known.caller.restriction;
  const is_refused =
    isExpired(cached, Date.now()) || refusalOf(cached, endpoint, context.ip) !== undefined;
  const is_taken_first = counted && known.version !== undefined && !is_refused;
  const taking = bucket.take(
    partner_id,
    known.caller.rate_limit_per_sec,
    is_taken_first ? 1 : 0,
    known.version,
  );
  const first = await waitedFor(call.waits, 'redis', taking);
  const caller = await authenticator.confirm(known, first.version, call);
  const { rate_limit_per_sec, restriction, approval_above } = caller;
  state.key_id = restriction?.key_id;
  state.key_partner_id = partner_id;
  const refusal = refusalOf(restriction, endpoint, context.ip);
  if (refusal) {
    // A stolen secret must not fill the list of latest calls from a wrong address.
    if (refusal.code !== 'ADDRESS_NOT_ALLOWED') state.partner_id = partner_id;
    throw countRefusal(refusal);
  }
  if (!counted) return { partner_id, restriction, approval_above, rate_limit: first };
  // The first result counts unless the cached caller was stale.
  const rate_limit = first.asked ? first : await bucket.take(partner_id, rate_limit_per_sec, 1);
  showRate(context, rate_limit_per_sec, rate_limit);
  return { partner_id, restriction, approval_above, rate_limit };
}

async function admitSession(
  context: Context,
  token: string,
  { sessions, bucket }: AdmitDependencies,
): Promise<Admitted> {
  const { call } = context.state as State;
  const token_hashes = sessions.hashes(token);
  const name = `connect:${token_hashes[0]}`;
  const rate_limit = await takeFromLimit(context, bucket, name, CONNECT_TOKEN_PER_SEC, true);
  if (!rate_limit.allowed) throw rateLimited('connect', rate_limit.retry_after_s);
  const { partner_id, session_id } = await sessions.find(token_hashes, context.ip, call);
  return { partner_id, session_id, rate_limit };
}

/** Takes the request from a rate limit, and shows the caller what is left. */
export async function takeFromLimit(
  context: Context,
  bucket: Bucket,
  name: string,
  per_sec: number,
  counted: boolean,
): Promise<RateLimitResult> {
  const result = await bucket.take(name, per_sec, counted ? 1 : 0);
  if (counted) showRate(context, per_sec, result);
  return result;
}

function showRate(
  context: Context,
  per_sec: number,
  { remaining, reset_s }: RateLimitResult,
): void {
  context.set('RateLimit-Limit', String(per_sec));
  context.set('RateLimit-Remaining', String(remaining));
  context.set('RateLimit-Reset', String(reset_s));
}
