// The rows of the log-in with the operator's issuer. The browser opens both: the first one sends it
// to the issuer, the second one is where the issuer sends it back, with or without a session.
import { randomBytes } from 'node:crypto';
import type { Context } from 'koa';
import { toApiError } from '@bmg/common/errors';
import * as answers from './answers';
import { openGet, openPost, type Route, type RouteDependencies, type RouteRequest } from './route';
import * as schemas from './schemas';
import { cookieOf } from './session-cookie';
import { logIn, sessionHashes } from './session-routes';

const START = '/session/issuer';
const COOKIE = 'bmg_issuer';
const ACCEPT = '/invitation/issuer';
/**
 * The secret, the hashes of the session that the log-in replaces, whose cookie is not sent back
 * here, and those of the invitation that it accepts.
 */
const FLOW_COOKIE = /^[\w-]{43}(\.[\w:+/=-]{1,128}){0,10}$/;
/** Marks the hashes of an invitation. */
const INVITED = 'invitation=';
const SECRET_BYTES = 32;
/** The time that a person has at the issuer. */
const LIFE_S = 600;
const SEE_OTHER = 303;

/** None without an issuer. */
export function issuerRoutes(deps: RouteDependencies): Route[] {
  if (deps.issuer_url === undefined) return [];
  const { begin, complete } = createIssuerLogIn(deps);
  const home = homeOf(deps);
  return [
    // The token is in the body: addresses are logged on the way.
    openPost(ACCEPT, answers.issuer_address, { body: schemas.readInvitation }, async (request) => ({
      url: await begin(request, deps.peppers.hashes(String(request.body['token']))),
    })),
    openGet(START, answers.nothing, { redirects: true }, (request) =>
      redirect(request, home, begin(request, [])),
    ),
    openGet(`${START}/callback`, answers.nothing, { redirects: true }, (request) =>
      redirect(request, home, complete(request)),
    ),
  ];
}

const homeOf = ({ public_url }: RouteDependencies): string =>
  `${public_url.replace(/\/+$/, '')}/dashboard/`;

const refusedAt = (home: string, reason: string): string =>
  `${home}?sign_in=${encodeURIComponent(reason)}`;

/** A failure is a page for the person: the sign-in, which names the reason. */
async function redirect(
  { context }: RouteRequest,
  home: string,
  address: Promise<string>,
): Promise<object> {
  const target = await address.catch((thrown: unknown) => {
    const error = toApiError(thrown);
    const { reason } = (error.details ?? {}) as { reason?: string };
    return refusedAt(home, reason ?? (error.http < 500 ? 'not_accepted' : 'unavailable'));
  });
  context.status = SEE_OTHER;
  context.redirect(target);
  return {};
}

/** Both steps return the address to which the browser goes: at the issuer, and back. */
function createIssuerLogIn(deps: RouteDependencies) {
  const { passkeys, peppers, public_url } = deps;
  const { name, scope } = cookieOf(public_url, COOKIE, `/dashboard/api${START}`);
  /** Nothing is stored: what the issuer must return follows from the browser's cookie. */
  const flowOf = (secret: string) => ({
    state: peppers.hash(`issuer:state:${secret}`),
    nonce: peppers.hash(`issuer:nonce:${secret}`),
    code_verifier: peppers.hash(`issuer:verifier:${secret}`),
  });
  /** Lax, because the issuer's page sends the browser back. */
  const setCookie = (context: Context, value: string, age_s: number): void =>
    context.append(
      'Set-Cookie',
      [`${name}=${value}`, `Max-Age=${age_s}`, ...scope, 'HttpOnly', 'SameSite=Lax'].join('; '),
    );
  return {
    async begin(request: RouteRequest, invited: readonly string[]): Promise<string> {
      const secret = randomBytes(SECRET_BYTES).toString('base64url');
      const flow = flowOf(secret);
      const fresh = request.context.query['fresh'] !== undefined;
      const { url } = await passkeys.startIssuerLogIn({ flow, fresh }, request.call);
      const marked = invited.map((hash) => INVITED + hash);
      const value = [secret, ...sessionHashes(deps, request), ...marked].join('.');
      setCookie(request.context, value, LIFE_S);
      return url;
    },
    async complete(request: RouteRequest): Promise<string> {
      const { context, call } = request;
      const home = homeOf(deps);
      const value = context.cookies.get(name, { signed: false }) ?? '';
      if (!FLOW_COOKIE.test(value)) return refusedAt(home, 'not_accepted');
      const [secret = '', ...hashes] = value.split('.');
      const [invited, replaced] = [true, false].map((is_invited) =>
        hashes.filter((hash) => hash.startsWith(INVITED) === is_invited),
      ) as [string[], string[]];
      const accepted = {
        flow: flowOf(secret),
        query: context.querystring,
        token_hashes: invited.map((hash) => hash.slice(INVITED.length)),
      };
      await logIn(
        deps,
        request,
        START,
        (session_hash) => passkeys.logInWithIssuer({ ...accepted, session_hash }, call),
        replaced,
      );
      setCookie(context, '', 0);
      return home;
    },
  };
}
