// The hosted onboarding page: GET /connect, its two files, and what the page tells of the dialog. Beside
// the contract's endpoints: none of this is one of them.
import type { IncomingMessage } from 'node:http';
import type Router from '@koa/router';
import type { Context } from 'koa';
import { ApiError, toApiError } from '@bmg/common/errors';
import { hashKey } from '@bmg/common/keys';
import type { Client } from '@bmg/common/rpc';
import type { Logger } from '@bmg/common/telemetry';
import type { OnboardingDefinition, ReportConnectStepRequest } from '@bmg/proto/onboarding';
import type { State } from '../edge/state';
import type { Authenticator } from '../auth/authenticate';
import { readBody } from '../edge/body';
import { reportConnectStep } from '../endpoints/onboarding/schemas';
import { compile } from '../endpoints/parts/schema';
import { ASSET_HEADERS, pageHeaders } from './headers';
import { connectHtml, noticeHtml, type Notice } from './html';
import { CONNECT_SCRIPT } from './script';
import { isConnectToken } from '../auth/session-token';
import { CONNECT_STYLE } from './style';

export interface ConnectPageDependencies {
  onboarding: Client<OnboardingDefinition>;
  authenticator: Authenticator;
  pepper: string;
  sdk_url: string;
  log: Logger;
}

const REPORT_LIMIT_BYTES = 16 * 1024;
/** What the deprecated form of the link may hand on to its session. */
const TEXT_MAX = 200;
const STATE_MAX = 255;

const INCOMPLETE: Notice = {
  title: 'This link is not complete',
  text: 'Open the link exactly as you got it, or ask your provider for a new one.',
};
const OVER: Notice = {
  title: 'This link is not valid any more',
  text: 'Links to connect a number work for 30 minutes. Ask your provider for a new one.',
};
const USED: Notice = {
  title: 'This link has been used',
  text: 'The number was connected with it. If something is missing, ask your provider for a new link.',
};
const BAD_KEY: Notice = {
  title: 'This link is not valid',
  text: 'The key in the link is not known. Ask your provider for a new link.',
  code: 'INVALID_KEY',
};

/** What a person reads for an error; the rest reads like a fault of ours. */
const NOTICES: Partial<Record<string, Notice>> = {
  PLATFORM_NOT_CONFIGURED: {
    title: 'Connecting numbers is not set up yet',
    text: 'The service that your provider uses is not ready for this. Please tell your provider.',
  },
  PARTNER_SUSPENDED: { title: 'This link cannot be used', text: 'Please ask your provider.' },
  SUBSCRIPTION_CANCELLED: { title: 'This link cannot be used', text: 'Please ask your provider.' },
  TRIAL_EXPIRED: { title: 'This link cannot be used', text: 'Please ask your provider.' },
};
const FAULT: Notice = {
  title: 'Something went wrong',
  text: 'Please load the page again in a moment. If it stays like this, tell your provider.',
};

export const connectPage = (deps: ConnectPageDependencies): ((router: Router<State>) => void) => {
  const headers = pageHeaders(deps.sdk_url);
  const checkReport = compile(reportConnectStep, 'body');
  const show = (context: Context, status: number, html: string): void => {
    context.status = status;
    context.type = 'html';
    context.body = html;
  };
  const serve = (type: string, text: string) => (context: Context) => {
    (context.state as State).route = '/connect/{file}';
    context.set(ASSET_HEADERS);
    context.type = type;
    context.body = text;
  };

  return (router) => {
    router.get('/connect', async (context: Context) => {
      const state = context.state as State;
      state.route = '/connect';
      context.set(headers);
      try {
        await openPage(deps, context, show);
      } catch (error) {
        const failure = toApiError(error);
        state.error = failure;
        if (failure.code === 'INVALID_KEY' && context.accepts('html', 'json') === 'json')
          throw error;
        const notice = failure.code === 'INVALID_KEY' ? BAD_KEY : (NOTICES[failure.code] ?? FAULT);
        show(context, failure.http, noticeHtml({ code: failure.code, ...notice }));
      }
    });
    router.get('/connect/page.js', serve('text/javascript', CONNECT_SCRIPT));
    router.get('/connect/page.css', serve('text/css', CONNECT_STYLE));
    router.post('/connect/events', async (context: Context) => {
      const state = context.state as State;
      state.route = '/connect/events';
      const token = context.get('x-connect-token').trim();
      if (!isConnectToken(token)) {
        throw new ApiError('UNAUTHORIZED', 'the header x-connect-token is required');
      }
      const body = checkReport(
        await readBody(context.req as IncomingMessage, REPORT_LIMIT_BYTES),
      ) as unknown as ReportConnectStepRequest;
      const token_hash = hashKey(token, deps.pepper);
      await deps.onboarding.reportConnectStep({ ...body, token_hash }, state.call);
      context.status = 200;
      context.body = { success: true };
    });
  };
};

type Show = (context: Context, status: number, html: string) => void;

async function openPage(
  deps: ConnectPageDependencies,
  context: Context,
  show: Show,
): Promise<void> {
  const { call } = context.state as State;
  const token = queryText(context, 'token');
  const key = queryText(context, 'partner_key');
  if (token === undefined && key !== undefined) return openByKey(deps, context, key);
  if (token === undefined || !isConnectToken(token)) {
    return show(context, 400, noticeHtml(INCOMPLETE));
  }
  const token_hash = hashKey(token, deps.pepper);
  const page = await deps.onboarding.openConnectPage({ token_hash }, call);
  if (page.outcome !== 'open') {
    return show(context, 410, noticeHtml(page.outcome === 'consumed' ? USED : OVER));
  }
  const { app_id, config_id, api_version, partner_name } = page;
  show(
    context,
    200,
    connectHtml(
      {
        token,
        app_id,
        config_id,
        extras: page.extras ?? {},
        api_version,
        sdk_url: deps.sdk_url,
        state: page.state ?? null,
      },
      { partner_name, legacy: queryText(context, 'legacy') === '1' },
    ),
  );
}

/**
 * The deprecated form: the whole key in the address. It leaves the address at once, for a session of its
 * own, and is never logged.
 */
async function openByKey(
  { authenticator, onboarding, log }: ConnectPageDependencies,
  context: Context,
  key: string,
): Promise<void> {
  const state = context.state as State;
  const { partner_id } = await authenticated(authenticator, key.trim(), state);
  state.partner_id = partner_id;
  log.warn({ partner_id }, 'a connect link with a partner key was opened: this form is deprecated');
  const { token } = await onboarding.createConnectSession(
    {
      partner_id,
      display_name: queryText(context, 'display_name')?.slice(0, TEXT_MAX),
      state: queryText(context, 'state')?.slice(0, STATE_MAX),
    },
    state.call,
  );
  context.status = 303;
  // Relative, so that it stays under whatever path the gateway is reached by.
  context.set('Location', `?token=${token}&legacy=1`);
  context.body = '';
}

async function authenticated(
  authenticator: Authenticator,
  key: string,
  { call }: State,
): Promise<{ partner_id: string }> {
  try {
    const known = await authenticator.identify(key, call);
    return await authenticator.confirm(known, undefined, call);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'INVALID_PARTNER_KEY') throw error;
    throw new ApiError('INVALID_KEY', 'the partner key in the link is not valid');
  }
}

const queryText = (context: Context, name: string): string | undefined => {
  const value = context.query[name];
  return typeof value === 'string' ? value : undefined;
};
