// The API of the partner's console. Each row gets one chain: own site (for changes) → session →
// scope of the person → rate limit → body → call; for a log-in: own site → limit of the network →
// body → call. The observer answers errors, as it does for the endpoints. Below /v1 a session calls
// the endpoints themselves, under their rules: the chain is the endpoints' own, only the caller
// comes from the session.
import type { IncomingMessage } from 'node:http';
import type Router from '@koa/router';
import type { Context } from 'koa';
import { INACTIVE_PARTNER_CODES } from '@bmg/common/directory';
import { firstKnown } from '@bmg/common/keys';
import { ApiError } from '@bmg/common/errors';
import { sessionName } from '@bmg/common/people';
import type { LookUps } from '../auth/look-ups';
import {
  countRefusal,
  refusalOf,
  restrictionOfPerson,
  type Restriction,
} from '../auth/restriction';
import type { Call } from '@bmg/common/rpc';
import { takeFromLimit, type admit } from '../edge/admit';
import { readBody } from '../edge/body';
import { createChain as createEndpointChain, type ChainDependencies } from '../edge/chain';
import type { Meter } from '../edge/meter';
import { hold } from '../edge/sending';
import type { State } from '../edge/state';
import type { Endpoint } from '../endpoints/endpoint';
import { compile, type Validator } from '../endpoints/parts/schema';
import type { Bucket } from '../limits/bucket';
import type { Load } from '../limits/load';
import type { NetworkLimit } from '../limits/network-limit';
import { completed } from './answers';
import { checkFreshLogIn, checkOwnSite, checkRate } from './checks';
import { actionOf, createRecordedRun } from './recorded';
import type { Route, RouteDependencies, RouteRequest, Visitor } from './route';
import { createRoutes } from './routes';
import { createSessionCookies, type SessionCookies } from './session-cookie';
import { hidingTexts } from './without-texts';

export interface ConsoleDependencies extends Omit<RouteDependencies, 'cookies' | 'recorder'> {
  bucket: Bucket;
  endpoints: Endpoint[];
  /** Middleware dependencies of the partner endpoints. */
  chain: ChainDependencies;
  look_ups: LookUps;
  load: Load;
  /** Limits log-ins. */
  logins: NetworkLimit;
}

const BASE = '/dashboard/api';
const CSRF = 'x-csrf-token';
/** Sent by our page with requests that its user did not cause. */
const IDLE = 'x-idle';
const BODY_LIMITS = { limit_bytes: 8 * 1024, within_ms: 5_000 };
/** Answers hold settings and secrets: they are never cached, nor taken for another content type. */
const HEADERS = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' };

export const consoleApi = (deps: ConsoleDependencies): ((router: Router<State>) => void) => {
  const cookies = createSessionCookies(deps.public_url, deps.peppers);
  const routes = createRoutes({ ...deps, cookies, recorder: deps.chain.recorder });
  const own_origin = new URL(deps.public_url).origin;
  return (router) => {
    for (const route of routes) {
      const chain = createChain(route, { ...deps, cookies, own_origin });
      router.register(BASE + route.path, [route.verb], chain);
    }
    const authorize = authorizeBySession({ ...deps, cookies, own_origin });
    const reads = { ...deps.chain, meter: meterApart(deps.chain.meter) };
    const shown = deps.shows_texts ? deps.endpoints : deps.endpoints.map(hidingTexts);
    for (const endpoint of shown) {
      const of_row = endpoint.verb === 'GET' ? reads : deps.chain;
      const chain = createEndpointChain(endpoint, of_row, authorize);
      router.register(`${BASE}/v1${endpoint.path}`, [endpoint.verb], chain);
    }
  };
};

interface SessionDependencies extends ConsoleDependencies {
  cookies: SessionCookies;
  own_origin: string;
}

/**
 * Names the reads of the console's pages in the usage record: no program of the partner called
 * them.
 */
const USAGE_PREFIX = 'console ';

const meterApart = (meter: Pick<Meter, 'count'>): Pick<Meter, 'count'> => ({
  count: (partner_id, method, endpoint, failed) =>
    meter.count(partner_id, method, USAGE_PREFIX + endpoint, failed),
});

/**
 * The caller of an endpoint: the partner of the session, limited by the role of a person. The
 * partner's own rate limit applies too.
 */
const authorizeBySession =
  (deps: SessionDependencies): typeof admit =>
  async (context, endpoint, { bucket }) => {
    const { verb, counted = true } = endpoint;
    context.set(HEADERS);
    const is_change = verb !== 'GET';
    if (is_change) checkOwnSite(context, deps.own_origin);
    const visitor = await findVisitor(context, deps, is_change);
    const { partner_id, session, token_hash, restriction } = visitor;
    const state = context.state as State;
    state.console_session = sessionName(token_hash);
    state.person_id = restriction?.person_id;
    checkScope(restriction, endpoint, context.ip);
    checkFreshLogIn(session, endpoint, new Date());
    await checkRate(deps.bucket, partner_id);
    const { rate_limit_per_sec: per_sec, approval_above } = session;
    const rate_limit = await takeFromLimit(context, bucket, partner_id, per_sec, counted);
    return { partner_id, restriction, approval_above, rate_limit };
  };

/** Throws if the role of the person does not allow it. */
function checkScope(
  restriction: Restriction | undefined,
  row: Parameters<typeof refusalOf>[1],
  address: string,
): void {
  const refusal = refusalOf(restriction, row, address);
  if (refusal) throw countRefusal(refusal);
}

function createChain(route: Route, deps: SessionDependencies): (context: Context) => Promise<void> {
  const checkBody = route.body && compile(route.body, 'body');
  const is_change = route.verb !== 'get';
  const needed = { ...route, verb: route.verb.toUpperCase() as Endpoint['verb'] };
  const visitorOf = async (context: Context): Promise<Visitor | undefined> => {
    try {
      return await findVisitor(context, deps, is_change, route.automatic);
    } catch (error) {
      if (route.absent && error instanceof ApiError && ENDS_SESSION.has(error.code))
        return undefined;
      throw error;
    }
  };
  const run = createRecordedRun(deps.chain.recorder);
  const answer = async (context: Context): Promise<object> => {
    if (route.open) {
      await deps.logins.take(context.ip);
      hold(context, deps.load.enterOpen(context.ip));
      return route.run(await readRequest(context, checkBody));
    }
    const visitor = await visitorOf(context);
    if (visitor === undefined) return route.absent as object;
    const state = context.state as State;
    state.partner_id = visitor.partner_id;
    state.person_id = visitor.restriction?.person_id;
    checkScope(visitor.restriction, needed, context.ip);
    checkFreshLogIn(visitor.session, route, new Date());
    await checkRate(deps.bucket, visitor.partner_id, route);
    hold(context, deps.load.enterPartner(visitor.partner_id));
    return run(route, visitor, await readRequest(context, checkBody));
  };
  return async (context) => {
    const state = context.state as State;
    state.route = BASE + route.path;
    state.action = actionOf(route);
    if (route.timeout_ms !== undefined) state.call.deadline = Date.now() + route.timeout_ms;
    context.set(HEADERS);
    if (is_change) checkOwnSite(context, deps.own_origin);
    const fields = await answer(context);
    if (context.respond === false || route.redirects) return;
    context.status = route.status ?? 200;
    context.body = { success: true, ...(completed(route.answer, fields) as object) };
  };
}

async function readRequest(context: Context, checkBody?: Validator): Promise<RouteRequest> {
  const { call } = context.state as State;
  const body = checkBody?.(await readBody(context.req as IncomingMessage, BODY_LIMITS)) ?? {};
  return { context, call, body };
}

/**
 * The partner of the session. A change also needs the CSRF token, which only our own page can read.
 * Requests that the user caused extend the session; streams do not, nor do requests that the page
 * marks because it has seen no input for a while.
 */
export async function findVisitor(
  context: Context,
  { settings, cookies, look_ups }: Pick<SessionDependencies, 'settings' | 'cookies' | 'look_ups'>,
  is_change: boolean,
  is_automatic = false,
): Promise<Visitor> {
  const token = cookies.read(context);
  if (token === undefined) throw new ApiError('UNAUTHORIZED', 'there is no session: log in');
  if (is_change && !cookies.isCsrfToken(context.get(CSRF), token)) {
    throw new ApiError('UNAUTHORIZED', `the header ${CSRF} does not match the session`);
  }
  const { call } = context.state as State;
  const token_hashes = cookies.hashes(token);
  const passive = is_automatic || context.get(IDLE) !== '';
  try {
    const { session, token_hash } = await look_ups.run(token_hashes[0], context.ip, () =>
      firstKnown(token_hashes, async (token_hash) => ({
        session: await settings.useSession({ token_hash, passive, people: true }, call),
        token_hash,
      })),
    );
    const { partner_id, person } = session;
    const restriction = person && restrictionOfPerson(person);
    const check = async (call: Call): Promise<void> => {
      const use = { token_hash, passive: true, people: true };
      const { person: now } = await settings.useSession(use, call);
      checkScope(now && restrictionOfPerson(now), { verb: 'GET' }, context.ip);
    };
    return { partner_id, restriction, token, token_hash, session, check };
  } catch (error) {
    if (error instanceof ApiError && ENDS_SESSION.has(error.code)) cookies.clear(context);
    throw error;
  }
}

/** The browser's cookie is useless after one of these. */
const ENDS_SESSION: ReadonlySet<string> = new Set(['UNAUTHORIZED', ...INACTIVE_PARTNER_CODES]);
