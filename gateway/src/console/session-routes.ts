// The rows of sessions: the log-in with the partner key, and the sessions of the partner or the
// person.
import { ApiError, toApiError } from '@bmg/common/errors';
import { firstKnown, isWellFormedKey, KEY_SCOPES, PARTNER_KEY_PREFIX } from '@bmg/common/keys';
import { holdersOf, relyingPartyOf } from '@bmg/common/people';
import type { Session } from '@bmg/proto/settings';
import type { Fields } from '../endpoints/endpoint';
import * as answers from './answers';
import { actionOf, recordLogIn, type LogInPath } from './recorded';
import {
  del,
  get,
  openPost,
  paramOf,
  type Route,
  type RouteDependencies,
  type RouteRequest,
  type Visitor,
} from './route';
import * as schemas from './schemas';

/** The hashes of the session whose cookie the request has, if any. */
export function sessionHashes({ cookies }: RouteDependencies, { context }: RouteRequest): string[] {
  const token = cookies.read(context);
  return token === undefined ? [] : cookies.hashes(token);
}

/**
 * Opens a session, records the log-in and sets the cookie. The session of the cookie that it
 * replaces ends.
 */
export async function logIn(
  deps: RouteDependencies,
  request: RouteRequest,
  path: LogInPath,
  open: (session_hash: string) => Promise<Session>,
  replaced: readonly string[] = sessionHashes(deps, request),
): Promise<Fields> {
  const { settings, cookies, recorder, shows_texts } = deps;
  const { context, call } = request;
  const token = cookies.newToken();
  const [token_hash] = cookies.hashes(token);
  const session = await open(token_hash).catch((error: unknown) => {
    noteFailure(deps, request, path, toApiError(error));
    throw error;
  });
  await recordLogIn(recorder, settings, { context, call, session, token_hash, path });
  for (const hash of replaced) await settings.closeSession({ token_hash: hash }, call);
  cookies.set(context, token);
  return sessionAnswer({ cookies, shows_texts }, session, token);
}

/** A log-in that was refused, not one that this service could not check. */
function noteFailure(
  { refused }: RouteDependencies,
  { context, call, body }: RouteRequest,
  path: string,
  { http, code }: ApiError,
): void {
  if (http >= 500) return;
  const { id } = (body['response'] ?? {}) as Fields;
  refused.note(
    {
      actor: { type: 'console' },
      action: actionOf({ verb: 'post', path }),
      code,
      address: context.ip,
      ...(typeof id === 'string' && { passkey_id: id }),
    },
    call,
  );
}

const sessionAnswer = (
  { cookies, shows_texts }: Pick<RouteDependencies, 'cookies' | 'shows_texts'>,
  session: Session,
  token: string,
): Fields => ({
  partner_id: session.partner_id,
  name: session.partner_name,
  expires_at: session.expires_at,
  csrf_token: cookies.csrfToken(token),
  shows_texts,
  person: session.person,
  holders: Object.fromEntries(KEY_SCOPES.map((scope) => [scope, holdersOf(scope)])),
});

const SESSION = '/session';

export function sessionRoutes(deps: RouteDependencies): Route[] {
  const { cookies, public_url, issuer_url } = deps;
  const log_in = {
    passkeys: public_url !== '' && relyingPartyOf(public_url) !== undefined,
    issuer: issuer_url === undefined ? null : new URL(issuer_url).host,
  };
  return [
    openPost(SESSION, answers.session, { status: 201, body: schemas.openSession }, (request) =>
      logInWithKey(deps, request),
    ),
    get(SESSION, answers.session, { any_scope: true }, async ({ session, token }) =>
      sessionAnswer(deps, session, token),
    ),
    // For the page's start: a browser reports every 401 as an error.
    get(
      '/session/current',
      answers.current_session,
      { any_scope: true, absent: { session: null, log_in } },
      async ({ session, token }) => ({ session: sessionAnswer(deps, session, token), log_in }),
    ),
    del(SESSION, answers.nothing, ENDING, async ({ token_hash }, { context, call }) => {
      await deps.settings.closeSession({ token_hash }, call);
      cookies.clear(context);
      return {};
    }),
    ...openSessionsRoutes(deps),
  ];
}

function logInWithKey(deps: RouteDependencies, request: RouteRequest): Promise<Fields> {
  const { settings, peppers, renewal } = deps;
  const partner_key = String(request.body['partner_key']).trim();
  return logIn(deps, request, SESSION, async (token_hash) => {
    if (!isWellFormedKey(partner_key, PARTNER_KEY_PREFIX)) {
      throw new ApiError('INVALID_PARTNER_KEY', 'the partner key is not valid');
    }
    const key_hashes = peppers.hashes(partner_key);
    return firstKnown(key_hashes, async (key_hash) => {
      const opened = await settings.openSession({ key_hash, token_hash }, request.call);
      renewal.renew(key_hash, key_hashes[0]);
      return opened;
    });
  });
}

const ENDING = { any_scope: true, audit: { reduces_risk: true } } as const;

const openSessionsRoutes = ({ settings, cookies }: RouteDependencies): Route[] => [
  get('/sessions', answers.sessions, { any_scope: true }, (visitor, { call }) => {
    const { partner_id, token_hash } = visitor;
    return settings.listSessions({ partner_id, token_hash, person_id: ownOnly(visitor) }, call);
  }),
  // A person ends only the own ones.
  del(
    '/sessions',
    answers.nothing,
    ENDING,
    async ({ partner_id, restriction }, { context, call }) => {
      await settings.closeAllSessions({ partner_id, person_id: restriction?.person_id }, call);
      cookies.clear(context);
      return {};
    },
  ),
  del('/sessions/:session_id', answers.nothing, ENDING, (visitor, request) => {
    const { partner_id } = visitor;
    const session_id = paramOf(request, 'session_id');
    const person_id = ownOnly(visitor);
    return settings.endSession({ partner_id, session_id, person_id }, request.call);
  }),
];

/** The partner key and owners see and end all sessions of the partner, others their own. */
const ownOnly = ({ session, restriction }: Visitor): string | undefined =>
  (session.person?.role ?? 'owner') === 'owner' ? undefined : restriction?.person_id;
