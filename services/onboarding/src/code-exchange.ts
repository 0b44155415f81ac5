// From a sign-up code to a token, and from a token to what it was granted. The app's secret and the code
// travel in the query because the upstream knows no other way; neither is ever logged or put in an error.
import { ApiError } from '@bmg/common/errors';
import type { Call } from '@bmg/common/rpc';
import { isObject, unusable, type Upstream, type UpstreamRequest } from '@bmg/common/upstream';
import type { TokenGrant } from './discovery';
import type { ExchangeFailure } from './store/exchanges';

export interface App {
  app_id: string;
  app_secret: string;
}

/** The upstream's answer to a code is final: asking again would only find the code spent. */
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
    // Nobody answered: whether the code is spent is not known, and the same code may be tried again.
    if (!(error instanceof ApiError) || error.upstream_code === undefined) throw error;
    // A limit that passes has not looked at the code.
    if (error.retryable) throw error;
    throw exchangeFailed(failureOf(error));
  });
  if (typeof access_token === 'string' && access_token !== '') return access_token;
  throw unusable('a token');
}

/** The error as it is kept beside the code, so that a repeat gets the same answer. */
const failureOf = (error: ApiError): ExchangeFailure => ({
  message: error.message,
  upstream_code: error.upstream_code ?? null,
  upstream_subcode: error.upstream_subcode,
  details: error.details,
});

export const exchangeFailed = (failure: ExchangeFailure): ApiError =>
  new ApiError('CODE_EXCHANGE_FAILED', failure.message, {
    upstream_code: failure.upstream_code ?? undefined,
    upstream_subcode: failure.upstream_subcode,
    details: failure.details,
  });

/** A final refusal. */
export const readFailure = (error: unknown): ExchangeFailure | undefined =>
  error instanceof ApiError && error.code === 'CODE_EXCHANGE_FAILED' ? failureOf(error) : undefined;

/** What the token was granted. The app looks at it under its own token. */
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
      token: `${app_id}|${app_secret}`,
      secrets: [token, app_secret],
    },
    call,
  );
  if (!isObject(data)) throw unusable('the facts of the token');
  if (data['is_valid'] === false) {
    const problem = isObject(data['error']) ? data['error'] : {};
    throw new ApiError('DISCOVERY_FAILED', 'the sign-up gave a token that is not valid', {
      upstream_code: wholeNumber(problem['code']),
      upstream_subcode: wholeNumber(problem['subcode']) ?? null,
    });
  }
  return data;
}

const wholeNumber = (value: unknown): number | undefined =>
  Number.isInteger(value) ? (value as number) : undefined;
