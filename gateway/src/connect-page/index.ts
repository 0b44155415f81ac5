// The hosted onboarding page: GET /connect, its script and style, and the reports of what happens
// in the sign-up dialog. These routes are not among the contract's endpoints.
import type { IncomingMessage } from 'node:http';
import type Router from '@koa/router';
import type { Context } from 'koa';
import { ApiError, toApiError } from '@bmg/common/errors';
import { invalidKey } from '@bmg/common/directory';
import { firstKnown } from '@bmg/common/keys';
import type { Client } from '@bmg/common/rpc';
import type { Logger } from '@bmg/common/telemetry';
import type { OnboardingDefinition, ReportConnectStepRequest } from '@bmg/proto/onboarding';
import type { Authenticator } from '../auth/authenticate';
import { isConnectToken } from '../auth/session-token';
import type { Auth } from '../auth/wire';
import { readBody } from '../edge/body';
import { notFound } from '../edge/observe';
import type { State } from '../edge/state';
import { reportConnectStep } from '../endpoints/onboarding/schemas';
import { compile } from '../endpoints/parts/schema';
import type { NetworkLimit } from '../limits/network-limit';
import { ASSET_HEADERS, LOGO_HEADERS, pageHeaders } from './headers';
import {
  EXPIRED_LINK,
  INCOMPLETE_LINK,
  loadConnectHtml,
  noticeOf,
  USED_LINK,
  type ConnectHtml,
  type Notice,
  type Opener,
} from './html';
import { DEFAULT_LANGUAGE, LANGUAGES } from './texts';

interface ConnectPageDependencies extends Pick<Auth, 'authenticator' | 'peppers' | 'look_ups'> {
  onboarding: Client<OnboardingDefinition>;
  sdk_url: string;
  /** Limits the requests of a network to the page. */
  visits: NetworkLimit;
  log: Logger;
}

const REPORT_LIMITS = { limit_bytes: 8 * 1024, within_ms: 5_000 };
/** Limits on the values that the deprecated form of the link passes on to its session. */
const TEXT_MAX = 200;
const STATE_MAX = 255;
const LOGO_ID = /^[0-9a-f]{32}$/;

export const connectPage = (deps: ConnectPageDependencies): ((router: Router<State>) => void) => {
  const html = loadConnectHtml();
  const headers = pageHeaders(deps.sdk_url);
  return (router) => {
    router.get('/connect', async (context: Context) => {
      const state = context.state as State;
      state.route = '/connect';
      context.set(headers);
      try {
        await openLink(context, html, deps);
      } catch (error) {
        const failure = toApiError(error);
        state.error = failure;
        const { code } = failure;
        if (code === 'INVALID_KEY' && context.accepts('html', 'json') === 'json') throw error;
        answerNotice(context, html, failure.http, noticeOf(code));
      }
    });
    router.get('/connect/page.js', serve('text/javascript', html.script));
    router.get('/connect/page.css', serve('text/css', html.style));
    router.get('/connect/logo/:id', createLogoHandler(deps));
    router.post('/connect/events', createReportHandler(deps));
  };
};

/** The first of the browser's languages that the page has. */
const languageOf = (context: Context): string =>
  context.acceptsLanguages(Object.keys(LANGUAGES)) || DEFAULT_LANGUAGE;

function answerHtml(context: Context, status: number, html: string): void {
  context.status = status;
  context.type = 'html';
  context.body = html;
}

const answerNotice = (
  context: Context,
  html: ConnectHtml,
  status: number,
  notice: Notice,
  { state, origin }: Opener = {},
): void =>
  answerHtml(
    context,
    status,
    html.notice(notice, { language: languageOf(context), state, origin }),
  );

const serve =
  (type: string, text: string) =>
  (context: Context): void => {
    (context.state as State).route = '/connect/{file}';
    context.set(ASSET_HEADERS);
    context.type = type;
    context.body = text;
  };

/** The partner's logo for the page: a picture from our own origin, and nothing but a picture. */
const createLogoHandler =
  ({ onboarding, visits }: ConnectPageDependencies) =>
  async (context: Context): Promise<void> => {
    const state = context.state as State;
    state.route = '/connect/logo/{id}';
    const logo_id = String(context['params'].id);
    if (!LOGO_ID.test(logo_id)) throw notFound();
    await visits.take(context.ip);
    const { mime_type, data } = await onboarding.getLogo({ logo_id }, state.call);
    context.set({ ...ASSET_HEADERS, ...LOGO_HEADERS, 'Content-Type': mime_type });
    context.body = Buffer.from(data);
  };

/** Answers with the page, or with a notice that says why the link does not open it. */
async function openLink(context: Context, html: ConnectHtml, deps: ConnectPageDependencies) {
  const { call } = context.state as State;
  await deps.visits.take(context.ip);
  const token = queryText(context, 'token');
  const key = queryText(context, 'partner_key');
  if (token === undefined && key !== undefined) return openLegacyLink(deps, context, key);
  if (token === undefined || !isConnectToken(token)) {
    return answerNotice(context, html, 400, INCOMPLETE_LINK);
  }
  const token_hashes = deps.peppers.hashes(token);
  const page = await deps.look_ups.run(token_hashes[0], context.ip, () =>
    firstKnown(
      token_hashes,
      (token_hash) => deps.onboarding.openConnectPage({ token_hash }, call),
      ({ outcome }) => outcome !== 'unknown',
    ),
  );
  if (page.outcome !== 'open') {
    const notice = page.outcome === 'consumed' ? USED_LINK : EXPIRED_LINK;
    return answerNotice(context, html, 410, notice, page);
  }
  const { app_id, config_id, extras = {}, api_version, partner_name, logo_id } = page;
  const { state = null, origin = null, success_url = null, failure_url = null } = page;
  const config = {
    ...{ token, app_id, config_id, extras, api_version, sdk_url: deps.sdk_url },
    ...{ state, origin, success_url, failure_url },
  };
  const legacy = queryText(context, 'legacy') === '1';
  const shown = { partner_name, logo_id, legacy, language: languageOf(context) };
  answerHtml(context, 200, html.page(config, shown));
}

/**
 * The deprecated form of the link, with the whole partner key in its address (contract 2.7). A
 * redirect replaces the key with a connect token at once; the key is never logged.
 */
async function openLegacyLink(
  { authenticator, onboarding, log }: ConnectPageDependencies,
  context: Context,
  key: string,
): Promise<void> {
  const state = context.state as State;
  const { partner_id } = await authenticate(authenticator, key.trim(), context);
  state.partner_id = partner_id;
  log.warn({ partner_id }, 'deprecated connect link with a partner key opened');
  const { token } = await onboarding.createConnectSession(
    {
      partner_id,
      display_name: queryText(context, 'display_name')?.slice(0, TEXT_MAX),
      state: queryText(context, 'state')?.slice(0, STATE_MAX),
      origin: undefined,
    },
    state.call,
  );
  context.status = 303;
  // Relative, so that it holds under any path prefix of the gateway.
  context.set('Location', `?token=${token}&legacy=1`);
  context.body = '';
}

async function authenticate(
  authenticator: Authenticator,
  key: string,
  context: Context,
): Promise<{ partner_id: string }> {
  const { call } = context.state as State;
  try {
    const known = await authenticator.identify(key, context.ip, call);
    const caller = await authenticator.confirm(known, undefined, call);
    // A key does not belong in an address; only the partner key was ever documented to work there.
    if (caller.restriction) throw invalidKey();
    return caller;
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'INVALID_PARTNER_KEY') throw error;
    throw new ApiError('INVALID_KEY', 'the partner key in the link is not valid');
  }
}

/** POST /connect/events: a step of the sign-up dialog, recorded under the session's token. */
function createReportHandler({ onboarding, peppers, look_ups, visits }: ConnectPageDependencies) {
  const check = compile(reportConnectStep, 'body');
  return async (context: Context): Promise<void> => {
    const state = context.state as State;
    state.route = '/connect/events';
    const token = context.get('x-connect-token').trim();
    if (!isConnectToken(token)) {
      throw new ApiError('UNAUTHORIZED', 'the header x-connect-token is required');
    }
    await visits.take(context.ip);
    const token_hashes = peppers.hashes(token);
    await look_ups.run(token_hashes[0], context.ip, async () => {
      const body = check(await readBody(context.req as IncomingMessage, REPORT_LIMITS));
      const report = body as unknown as ReportConnectStepRequest;
      await firstKnown(token_hashes, (token_hash) =>
        onboarding.reportConnectStep({ ...report, token_hash }, state.call),
      );
    });
    context.status = 200;
    context.body = { success: true };
  };
}

const queryText = (context: Context, name: string): string | undefined => {
  const value = context.query[name];
  return typeof value === 'string' ? value : undefined;
};
