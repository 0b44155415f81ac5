// The API behind the partner's dashboard, beside the contract's endpoints. Every row gets one chain: our own
// site (for a change) → session → rate limit → body → call. Errors are those of the rest of the edge.
import type { IncomingMessage } from 'node:http';
import type Router from '@koa/router';
import type { Context } from 'koa';
import { ApiError } from '@bmg/common/errors';
import type { Client } from '@bmg/common/rpc';
import type { PaymentsDefinition } from '@bmg/proto/billing';
import type { SettingsDefinition } from '@bmg/proto/settings';
import type { WebhooksDefinition } from '@bmg/proto/webhooks';
import type { State } from '../edge/state';
import type { Fields } from '../endpoints/endpoint';
import type { Bucket } from '../limits/bucket';
import { rateLimited } from '../limits/rate-limited';
import { readBody } from '../edge/body';
import { compile, type Validator } from '../endpoints/parts/schema';
import type { LoginLimit } from './login-limit';
import { checkOwnSite } from './own-site';
import { createRoutes, type Asked, type Route, type Visitor } from './routes';
import { createSessionCookies, type SessionCookies } from './session-cookie';

export interface DashboardDependencies {
  settings: Client<SettingsDefinition>;
  webhooks: Client<WebhooksDefinition>;
  payments: Client<PaymentsDefinition>;
  bucket: Bucket;
  logins: LoginLimit;
  pepper: string;
  public_url: string;
}

const BASE = '/dashboard/api';
const CSRF = 'x-csrf-token';
const BODY_LIMIT_BYTES = 16 * 1024;
/** Of one partner, all browsers together; the partner's REST calls have a bucket of their own. */
const PER_SEC = 20;
/** Settings and secrets: never kept, never sniffed into something else. */
const HEADERS = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' };

export const dashboard = (deps: DashboardDependencies): ((router: Router<State>) => void) => {
  const cookies = createSessionCookies(deps.public_url, deps.pepper);
  const routes = createRoutes({ ...deps, cookies });
  const own_origin = new URL(deps.public_url).origin;
  return (router) => {
    for (const route of routes) {
      const chain = createChain(route, { ...deps, cookies, own_origin });
      router.register(BASE + route.path, [route.verb], chain);
    }
  };
};

interface ChainDependencies extends DashboardDependencies {
  cookies: SessionCookies;
  own_origin: string;
}

function createChain(route: Route, deps: ChainDependencies): (context: Context) => Promise<void> {
  const check = route.body && compile(route.body, 'body');
  const changes = route.verb !== 'get';
  return async (context) => {
    const state = context.state as State;
    state.route = BASE + route.path;
    if (route.timeout_ms !== undefined) state.call.deadline = Date.now() + route.timeout_ms;
    context.set(HEADERS);
    if (changes) checkOwnSite(context, deps.own_origin);
    const asked = async (): Promise<Asked> => ({
      context,
      call: state.call,
      body: await bodyOf(context, check),
    });
    let answer: Fields;
    if (route.open) answer = await route.run(await asked());
    else {
      const visitor = await admit(context, deps, changes);
      state.partner_id = visitor.partner_id;
      await limit(deps.bucket, visitor, route);
      answer = await route.run(visitor, await asked());
    }
    context.status = route.status ?? 200;
    context.body = { success: true, ...answer };
  };
}

const bodyOf = async (context: Context, check: Validator | undefined): Promise<Fields> =>
  check ? check(await readBody(context.req as IncomingMessage, BODY_LIMIT_BYTES)) : {};

/** Whom the session speaks for; a change needs what only our own page can read, too. */
async function admit(
  context: Context,
  { settings, cookies }: ChainDependencies,
  changes: boolean,
): Promise<Visitor> {
  const token = cookies.read(context);
  if (token === undefined) throw new ApiError('UNAUTHORIZED', 'there is no session: log in');
  if (changes && !cookies.isCsrfToken(context.get(CSRF), token)) {
    throw new ApiError('UNAUTHORIZED', `the header ${CSRF} is not that of the session`);
  }
  const { call } = context.state as State;
  try {
    const session = await settings.useSession({ token_hash: cookies.hash(token) }, call);
    return { partner_id: session.partner_id, token, session };
  } catch (error) {
    // A session that is over is of no more use to the browser.
    if (error instanceof ApiError && OVER.has(error.code)) cookies.clear(context);
    throw error;
  }
}

const OVER: ReadonlySet<string> = new Set([
  'UNAUTHORIZED',
  'PARTNER_SUSPENDED',
  'SUBSCRIPTION_CANCELLED',
  'TRIAL_EXPIRED',
]);

async function limit(bucket: Bucket, { partner_id }: Visitor, route: Route): Promise<void> {
  const limits: Array<[string, number]> = [[`dashboard:${partner_id}`, PER_SEC]];
  if (route.per_sec !== undefined) limits.push([`${route.path}:${partner_id}`, route.per_sec]);
  for (const [name, per_sec] of limits) {
    const { allowed, retry_after_s } = await bucket.take(name, per_sec, 1);
    if (allowed) continue;
    throw rateLimited('dashboard', retry_after_s);
  }
}
