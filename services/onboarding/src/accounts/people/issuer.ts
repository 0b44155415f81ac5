// The log-in with the operator's issuer (OpenID Connect): code flow with PKCE, state and nonce. The
// only file that talks to the issuer. Its addresses, those in its documents too, go through the
// guard.
import type * as OpenId from 'openid-client' with { 'resolution-mode': 'import' };
import { ConfigError } from '@bmg/common/config';
import { ApiError } from '@bmg/common/errors';
import { guardedRequest, RequestFailed, type GuardedAgent } from '@bmg/common/outbound';
import type { Config } from '../../config';

type IssuerSettings = Pick<
  Config,
  'OIDC_ISSUER' | 'OIDC_CLIENT_ID' | 'OIDC_CLIENT_SECRET' | 'PUBLIC_URL'
>;

/** One log-in: the browser that began it keeps what these were made from. */
export interface Flow {
  state: string;
  nonce: string;
  code_verifier: string;
}

/** The account that the issuer has identified. */
export interface Identity {
  issuer: string;
  subject: string;
  /** Null unless the issuer has verified it. */
  email: string | null;
  /** When it checked who signs in; null if it does not say. */
  authenticated_at: Date | null;
}

export type Issuer = ReturnType<typeof createIssuer>;

/** Below PUBLIC_URL; the operator registers it at the issuer. */
const CALLBACK_PATH = '/dashboard/api/session/issuer/callback';
const REQUEST_TIMEOUT_MS = 10_000;
const ANSWER_MAX_BYTES = 256 * 1024;
/** Keys and addresses of the issuer may change. */
const REDISCOVER_MS = 3_600_000;
const POOL = 'issuer';
/** Requested of an issuer whose log-in must be fresh: the gateway accepts up to five minutes. */
const FRESH_S = '60';

interface Discovered {
  client: typeof OpenId;
  config: OpenId.Configuration;
}

/** Throws ConfigError for an issuer without a client. */
export function createIssuer(settings: IssuerSettings, agent: GuardedAgent) {
  const { OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, PUBLIC_URL } = settings;
  if (OIDC_ISSUER !== undefined) {
    const missing = Object.entries({ OIDC_CLIENT_ID, OIDC_CLIENT_SECRET })
      .filter(([, value]) => value === undefined)
      .map(([setting]) => `${setting} is required with OIDC_ISSUER`);
    if (missing.length > 0) throw new ConfigError(missing);
  }
  const redirect_uri = `${PUBLIC_URL.replace(/\/+$/, '')}${CALLBACK_PATH}`;
  const discovered = createDiscovery(settings, agent);
  return {
    isConfigured: OIDC_ISSUER !== undefined,
    /**
     * Where the browser goes. `fresh`: the issuer checks again who signs in, unless it just did.
     * Throws SERVICE_UNAVAILABLE if the issuer cannot be reached.
     */
    async authorizationUrl({ state, nonce, code_verifier }: Flow, fresh = false) {
      const { client, config } = await discovered().catch(away);
      const code_challenge = await client.calculatePKCECodeChallenge(code_verifier);
      return client.buildAuthorizationUrl(config, {
        redirect_uri,
        scope: 'openid email',
        state,
        nonce,
        code_challenge,
        code_challenge_method: 'S256',
        ...(fresh && { max_age: FRESH_S }),
      }).href;
    },
    /** `query` is that of the address to which the issuer sent the browser back. */
    async identify({ state, nonce, code_verifier }: Flow, query: string) {
      const { client, config } = await discovered().catch(away);
      const url = new URL(redirect_uri);
      url.search = query;
      try {
        const tokens = await client.authorizationCodeGrant(config, url, {
          pkceCodeVerifier: code_verifier,
          expectedState: state,
          expectedNonce: nonce,
          idTokenExpected: true,
        });
        return await identityOf({ client, config }, tokens);
      } catch (error) {
        if (isUnreachable(error)) return away(error);
        throw issuerRefusal(
          'not_accepted',
          'the sign-in at the issuer was not accepted: try again',
          error,
        );
      }
    },
  };
}

/** Returns the discovery of the issuer, which is repeated after an hour or a failure. */
function createDiscovery(settings: IssuerSettings, agent: GuardedAgent) {
  let known: { at: number; found: Promise<Discovered> } | undefined;
  return (): Promise<Discovered> => {
    if (known && performance.now() - known.at < REDISCOVER_MS) return known.found;
    const found = discover(settings, agent);
    const current = { at: performance.now(), found };
    known = current;
    found.catch(() => {
      if (known === current) known = undefined;
    });
    return found;
  };
}

async function discover(
  { OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET }: IssuerSettings,
  agent: GuardedAgent,
): Promise<Discovered> {
  if (OIDC_ISSUER === undefined || OIDC_CLIENT_ID === undefined) throw notConfigured();
  // Loaded only where an issuer is configured.
  const client = await import('openid-client');
  const config = await client.discovery(
    new URL(OIDC_ISSUER),
    OIDC_CLIENT_ID,
    undefined,
    client.ClientSecretBasic(OIDC_CLIENT_SECRET),
    {
      [client.customFetch]: guarded(agent),
      timeout: REQUEST_TIMEOUT_MS / 1_000,
      // The guard decides: plain HTTP is for local work only.
      execute: agent.allowPrivate ? [client.allowInsecureRequests] : [],
    },
  );
  config[client.customFetch] = guarded(agent);
  return { client, config };
}

async function identityOf(
  { client, config }: Discovered,
  tokens: Awaited<ReturnType<typeof OpenId.authorizationCodeGrant>>,
): Promise<Identity> {
  const claims = tokens.claims();
  if (!claims) throw new Error('the answer has no ID token');
  // Some issuers return the address only here.
  const facts =
    claims['email'] === undefined
      ? await client.fetchUserInfo(config, tokens.access_token, claims.sub)
      : claims;
  const { email, email_verified } = facts as Record<string, unknown>;
  const is_verified = typeof email === 'string' && email_verified === true;
  return {
    issuer: claims.iss,
    subject: claims.sub,
    email: is_verified ? email : null,
    authenticated_at: timeOf(claims.auth_time),
  };
}

/** A time in the future is not believed. */
function timeOf(auth_time: unknown): Date | null {
  if (typeof auth_time !== 'number') return null;
  return new Date(Math.min(auth_time * 1_000, Date.now()));
}

type RefusalReason = 'not_accepted' | 'unknown_person' | 'other_address';

/** The console shows a page for the reason. */
export const issuerRefusal = (reason: RefusalReason, message: string, cause?: unknown): ApiError =>
  new ApiError('UNAUTHORIZED', message, { details: { reason }, cause });

const notConfigured = (): ApiError =>
  new ApiError('NOT_CONFIGURED', 'no issuer is configured (OIDC_ISSUER, OIDC_CLIENT_ID)');

const away = (cause: unknown): never => {
  if (cause instanceof ApiError) throw cause;
  throw new ApiError('SERVICE_UNAVAILABLE', 'the issuer cannot be reached: try again', { cause });
};

const CAUSES_MAX = 5;

/** True if the error, or one of its causes, is a request that got no answer. */
const isUnreachable = (error: unknown, depth = CAUSES_MAX): boolean =>
  depth > 0 &&
  error instanceof Error &&
  (error instanceof RequestFailed || isUnreachable(error.cause, depth - 1));

const guarded =
  (agent: GuardedAgent) =>
  async (
    url: string,
    given: {
      method: string;
      headers: Record<string, string>;
      body?: unknown;
      signal?: AbortSignal;
    },
  ): Promise<Response> => {
    const { status, headers, body } = await guardedRequest(url, {
      agent,
      pool: POOL,
      method: given.method as 'GET' | 'POST',
      headers: given.headers,
      body: given.body === undefined || given.body === null ? undefined : String(given.body),
      answer_max_bytes: ANSWER_MAX_BYTES,
      signal: given.signal ?? AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
    return new Response(body.length > 0 ? new Uint8Array(body) : null, { status, headers });
  };
