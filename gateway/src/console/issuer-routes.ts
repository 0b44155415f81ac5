// The rows of the log-in with the operator's issuer. The browser opens both: the first one sends it
// to the issuer, the second one is where the issuer sends it back, with or without a session.
import { randomBytes } from 'node:crypto';
import type { Context } from 'koa';
import { toApiError } from '@bmg/common/errors';
import * as answers from './answers';
import type { Route, RouteDependencies, RouteRequest } from './route';
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

/** None without an issuer. Longer than 70 lines: three rows, and what they share. */
export function issuerRoutes(deps: RouteDependencies): Route[] {
  const { passkeys, peppers, public_url, issuer_url } = deps;
  if (issuer_url === undefined) return [];
  const { name, scope } = cookieOf(public_url, COOKIE, `/dashboard/api${START}`);
  const home = `${public_url.replace(/\/+$/, '')}/dashboard/`;
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
  const sendTo = (context: Context, address: string): void => {
    context.status = SEE_OTHER;
    context.redirect(address);
  };
  /** A failure is a page for the person: the sign-in, which names the reason. */
  const orReason = async (
    { context }: RouteRequest,
    next: () => Promise<string>,
  ): Promise<Record<string, never>> => {
    try {
      sendTo(context, await next());
    } catch (thrown) {
      const error = toApiError(thrown);
      const { reason } = (error.details ?? {}) as { reason?: string };
      const refusal = reason ?? (error.http < 500 ? 'not_accepted' : 'unavailable');
      sendTo(context, `${home}?sign_in=${encodeURIComponent(refusal)}`);
    }
    return {};
  };
  /** Returns the address at the issuer to which the browser goes. */
  const begin = async (request: RouteRequest, invited: readonly string[]): Promise<string> => {
    const secret = randomBytes(SECRET_BYTES).toString('base64url');
    const flow = flowOf(secret);
    const fresh = request.context.query['fresh'] !== undefined;
    const { url } = await passkeys.startIssuerLogIn({ flow, fresh }, request.call);
    const marked = invited.map((hash) => INVITED + hash);
    const value = [secret, ...sessionHashes(deps, request), ...marked].join('.');
    setCookie(request.context, value, LIFE_S);
    return url;
  };
  return [
    {
      // The token is in the body: addresses are logged on the way.
      verb: 'post',
      path: ACCEPT,
      answer: answers.issuer_address,
      open: true,
      body: schemas.readInvitation,
      run: async (request) => ({
        url: await begin(request, peppers.hashes(String(request.body['token']))),
      }),
    },
    {
      verb: 'get',
      path: START,
      answer: answers.nothing,
      open: true,
      redirects: true,
      run: (request) => orReason(request, () => begin(request, [])),
    },
    {
      verb: 'get',
      path: `${START}/callback`,
      answer: answers.nothing,
      open: true,
      redirects: true,
      run: (request) =>
        orReason(request, async () => {
          const { context, call } = request;
          const value = context.cookies.get(name, { signed: false }) ?? '';
          if (!FLOW_COOKIE.test(value)) return `${home}?sign_in=not_accepted`;
          const [secret = '', ...hashes] = value.split('.');
          const flow = flowOf(secret);
          const token_hashes = hashes
            .filter((hash) => hash.startsWith(INVITED))
            .map((hash) => hash.slice(INVITED.length));
          const replaced = hashes.filter((hash) => !hash.startsWith(INVITED));
          const query = context.querystring;
          await logIn(
            deps,
            request,
            START,
            (session_hash) =>
              passkeys.logInWithIssuer({ flow, query, session_hash, token_hashes }, call),
            replaced,
          );
          setCookie(context, '', 0);
          return home;
        }),
    },
  ];
}
