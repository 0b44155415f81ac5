// Authentication and rate limit. Together they cost one round trip to the shared store: the bucket's
// script also returns the partner's directory version, which shows whether a cached caller is stale.
import type { Context } from 'koa';
import { ApiError } from '@bmg/common/errors';
import type { Authenticator } from '../auth/authenticate';
import type { SessionAuthenticator } from '../auth/session-token';
import type { Endpoint } from '../endpoints/endpoint';
import type { Bucket, RateLimitResult } from '../limits/bucket';
import type { State } from './state';

export interface AdmitDependencies {
  authenticator: Authenticator;
  sessions: SessionAuthenticator;
  bucket: Bucket;
}

export interface Admitted {
  partner_id: string;
  /** Set when a connect token was sent in place of a key. */
  session_id?: string;
  /** May be a refusal: the chain throws it, so that the usage record counts the call. */
  rate_limit: RateLimitResult;
}

const KEY = 'x-partner-key';
const CONNECT_TOKEN = 'x-connect-token';

/** Throws unless the request carries a valid key, or a connect token where the row takes one. */
export async function admit(
  context: Context,
  { scope, counted = true }: Endpoint,
  { authenticator, sessions, bucket }: AdmitDependencies,
): Promise<Admitted> {
  const { call } = context.state as State;
  const key = context.get(KEY).trim();
  if (key) {
    const known = await authenticator.identify(key, call);
    const { partner_id, rate_limit_per_sec } = known.caller;
    const rate_limit = await takeFromLimit(
      context,
      bucket,
      partner_id,
      rate_limit_per_sec,
      counted,
    );
    await authenticator.confirm(known, rate_limit.version, call);
    return { partner_id, rate_limit };
  }
  const token = scope === 'session' ? context.get(CONNECT_TOKEN).trim() : '';
  if (!token) throw new ApiError('UNAUTHORIZED', `the header ${KEY} is required`);
  const { partner_id, session_id, rate_limit_per_sec } = await sessions.find(token, call);
  const rate_limit = await takeFromLimit(context, bucket, partner_id, rate_limit_per_sec, counted);
  return { partner_id, session_id, rate_limit };
}

/** Takes the request from the partner's rate limit, and tells the caller what is left. */
export async function takeFromLimit(
  context: Context,
  bucket: Bucket,
  partner_id: string,
  per_sec: number,
  counted: boolean,
): Promise<RateLimitResult> {
  const result = await bucket.take(partner_id, per_sec, counted ? 1 : 0);
  if (counted) {
    context.set('RateLimit-Limit', String(per_sec));
    context.set('RateLimit-Remaining', String(result.remaining));
    context.set('RateLimit-Reset', String(result.reset_s));
  }
  return result;
}
