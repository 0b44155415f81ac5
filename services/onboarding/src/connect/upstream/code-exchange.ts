// Exchanges a sign-up code for a token, and reads what a token was granted. The app's secret and
// the code travel in the query, because the upstream accepts them nowhere else; neither is logged
// or put in an error.
import { ApiError, rewrap } from '@bmg/common/errors';
import type { Call } from '@bmg/common/rpc';
import { isObject, unusable, type Upstream, type UpstreamRequest } from '@bmg/common/upstream';

export interface App {
  app_id: string;
  app_secret: string;
}

/** The app's own token. */
export const appToken = ({ app_id, app_secret }: App): string => `${app_id}|${app_secret}`;

export interface ExchangeFailure {
  message: string;
  upstream_code: number | null;
  upstream_subcode: number | null;
  upstream_trace_id?: string | null;
  details: unknown;
}

/** The fields of a `debug_token` answer that we read. */
export interface TokenGrant {
  granular_scopes?: unknown;
  expires_at?: unknown;
}

/**
 * Returns the token. The code is sent once: after any outcome it may be used up. Throws
 * CODE_EXCHANGE_FAILED if the upstream refuses the code, and a non-retryable UPSTREAM_ERROR
 * if its answer was lost.
 */
export async function exchangeCode(
  upstream: Upstream,
  { app_id, app_secret }: App,
  code: string,
  call: Call,
): Promise<string> {
  const request: UpstreamRequest & { once: true } = {
    operation: 'GET /oauth/access_token',
    method: 'GET',
    path: '/oauth/access_token',
    query: { client_id: app_id, client_secret: app_secret, code },
    secrets: [app_secret, code],
    send: true,
    once: true,
  };
  const { access_token } = await upstream.request(request, call).catch((error: unknown) => {
    if (!(error instanceof ApiError)) throw error;
    if (isLost(error)) throw rewrap(error, { retryable: false });
    // The request was not sent, or the upstream did not process it.
    if (error.upstream_code === undefined) throw error;
    // Temporary errors, such as a rate limit, leave the code unused.
    if (error.retryable) throw error;
    throw exchangeFailed(failureOf(error));
  });
  if (typeof access_token === 'string' && access_token !== '') return access_token;
  throw unusable('a token', OUTCOME_UNKNOWN);
}

const OUTCOME_UNKNOWN = { outcome: 'unknown' };

/** The answer was lost, so it is unknown whether the code is used up. */
const isLost = ({ upstream_code, details }: ApiError): boolean =>
  upstream_code === undefined &&
  isObject(details) &&
  details['outcome'] === OUTCOME_UNKNOWN.outcome;

/** The error as it is stored with the code, for repeated requests. */
const failureOf = (error: ApiError): ExchangeFailure => ({
  message: error.message,
  upstream_code: error.upstream_code ?? null,
  upstream_subcode: error.upstream_subcode,
  upstream_trace_id: error.upstream_trace_id ?? null,
  details: error.details,
});

export const exchangeFailed = (failure: ExchangeFailure): ApiError =>
  new ApiError('CODE_EXCHANGE_FAILED', failure.message, {
    upstream_code: failure.upstream_code ?? undefined,
    upstream_subcode: failure.upstream_subcode,
    upstream_trace_id: failure.upstream_trace_id ?? undefined,
    details: failure.details,
  });

/**
 * The failure to store if the error is final for the code: a refusal, or a response that was not
 * received. Repeated requests then fail without a call to the upstream. Undefined if the code may
 * still be exchanged.
 */
export function readFailure(error: unknown): ExchangeFailure | undefined {
  if (!(error instanceof ApiError)) return undefined;
  if (error.code === 'CODE_EXCHANGE_FAILED') return failureOf(error);
  if (!isLost(error)) return undefined;
  return {
    ...failureOf(error),
    message:
      'the upstream’s answer to this code was lost and the code may be used up: sign up again',
  };
}

/** What the token was granted. Throws DISCOVERY_FAILED for an invalid token. */
export async function inspectToken(
  upstream: Upstream,
  { app_id, app_secret }: App,
  token: string,
  call: Call,
): Promise<TokenGrant> {
  const { data } = await upstream.request(
    {
      operation: 'GET /debug_token',
      method: 'GET',
      path: '/debug_token',
      query: { input_token: token },
      token: appToken({ app_id, app_secret }),
      secrets: [token, app_secret],
    },
    call,
  );
  if (!isObject(data)) throw unusable('the facts of the token');
  if (data['is_valid'] === false) {
    const problem = isObject(data['error']) ? data['error'] : {};
    throw new ApiError(
      'DISCOVERY_FAILED',
      'the sign-up returned a token that is not valid: sign up again',
      {
        upstream_code: wholeNumber(problem['code']),
        upstream_subcode: wholeNumber(problem['subcode']) ?? null,
      },
    );
  }
  return data;
}

const wholeNumber = (value: unknown): number | undefined =>
  Number.isInteger(value) ? (value as number) : undefined;
