// Onboarding of a client: the code exchange, debug_token, the webhook subscription of an account,
// and the one-time synchronisation of a coexistence number.
import { problemOf } from '../access';
import { accountOf, numberOf, routesOf, type Call } from '../core';
import { invalid, upstreamError } from '../errors';
import { postSync } from '../sync';
import type { BusinessNumber, JsonObject, Token } from '../types';
import { WEBHOOK_FIELDS } from '../webhook-fields';
import { parameter, requiredText, requireOneOf, requireProduct, SUCCESS } from './parameters';

const ACCOUNT_OBJECT = 'whatsapp_business_account';
const SYNC_WINDOW_MS = 24 * 3600 * 1000;

export const onboardingRoutes = [
  ...routesOf(null, {
    'GET /oauth/access_token': exchange,
    'GET /debug_token': debugToken,
    'GET /:app/subscriptions': appSubscriptions,
    'POST /:app/subscriptions': subscribeApp,
  }),
  ...routesOf('whatsapp_business_management', {
    'POST /:account/subscribed_apps': subscribe,
    'GET /:account/subscribed_apps': subscriptions,
    'DELETE /:account/subscribed_apps': unsubscribe,
    'POST /:number/smb_app_data': requestSync,
  }),
];

function exchange(call: Call): JsonObject {
  const { config } = call.core;
  if (parameter(call, 'client_id') !== config.app_id) {
    throw upstreamError(101, 'Error validating application. Invalid application ID.');
  }
  if (parameter(call, 'client_secret') !== config.app_secret) {
    throw upstreamError(1, 'Error validating client secret.');
  }
  if (parameter(call, 'redirect_uri')) {
    throw invalid('Error validating verification code. The redirect_uri must be empty.', {
      subcode: 36008,
    });
  }
  const code = call.state.codes.get(requiredText(call, 'code'));
  if (!code) throw invalid('Invalid verification code format.');
  if (code.used) throw invalid('This authorization code has been used.', { subcode: 36009 });
  if (code.expires_at <= Date.now()) {
    throw invalid('This authorization code has expired.', { subcode: 36007 });
  }
  code.used = true;
  const token = call.state.tokens.get(code.token) as Token;
  beginOnboarding(call, token);
  return {
    access_token: token.token,
    token_type: 'bearer',
    ...(token.expires_at
      ? { expires_in: Math.max(0, token.expires_at - Math.floor(Date.now() / 1000)) }
      : {}),
  };
}

/** Each onboarding allows each kind of synchronisation once, within 24 hours. */
function beginOnboarding({ state }: Call, token: Token): void {
  for (const waba_id of token.waba_ids === 'all' ? [] : token.waba_ids) {
    const account = state.accounts.get(waba_id);
    for (const number of account ? state.numbersOf(account) : []) {
      if (!number.is_on_biz_app) continue;
      number.onboarded_at = Date.now();
      number.sync_requested = [];
    }
  }
}

function debugToken(call: Call): JsonObject {
  const { config } = call.core;
  const header = call.request.headers.authorization ?? '';
  const caller = /^(?:bearer|oauth)\s+(.+)$/i.exec(header)?.[1] ?? call.query.get('access_token');
  const input = requiredText(call, 'input_token');
  if (!caller) throw upstreamError(104);
  // The app may inspect any token, a token only itself.
  const is_app = caller === `${config.app_id}|${config.app_secret}`;
  if (!is_app && (caller !== input || !call.state.tokens.has(caller))) throw upstreamError(190);
  const token = call.state.tokens.get(input);
  if (!token) {
    const error = { code: 190, message: 'The access token could not be decrypted', subcode: 467 };
    return { data: { is_valid: false, error, scopes: [] } };
  }
  const error = problemOf(token);
  return { data: { ...describeToken(call, token), is_valid: !error, ...(error && { error }) } };
}

function describeToken({ core }: Call, token: Token): JsonObject {
  const targets = token.lists_targets && token.waba_ids !== 'all' ? token.waba_ids : null;
  return {
    app_id: core.config.app_id,
    application: 'Example gateway',
    type: token.type,
    issued_at: token.issued_at,
    expires_at: token.expires_at,
    data_access_expires_at: 0,
    user_id: token.user_id,
    scopes: token.scopes,
    granular_scopes: token.scopes.map((scope) => ({
      scope,
      ...(targets ? { target_ids: targets } : {}),
    })),
  };
}

/** Only with the app's own token. The given fields replace those that the app has. */
async function subscribeApp(call: Call): Promise<JsonObject> {
  requireAppToken(call);
  const callback_url = requiredText(call, 'callback_url');
  requireOneOf(requiredText(call, 'object'), 'object', [ACCOUNT_OBJECT]);
  if (!(await call.core.webhooks.verify(callback_url, requiredText(call, 'verify_token')))) {
    throw upstreamError(2200, 'Callback verification failed with the given URL and token');
  }
  const fields = requiredText(call, 'fields').split(',');
  call.state.app_subscription = { callback_url, fields };
  return SUCCESS;
}

function appSubscriptions(call: Call): JsonObject {
  requireAppToken(call);
  const { callback_url, fields } = call.state.app_subscription ?? {
    callback_url: call.core.config.webhook_url,
    fields: WEBHOOK_FIELDS,
  };
  return {
    data: [
      {
        object: ACCOUNT_OBJECT,
        callback_url,
        active: true,
        fields: fields.map((name) => ({ name, version: 'v26.0' })),
      },
    ],
  };
}

function requireAppToken({ token }: Call): void {
  if (token.type !== 'APP') throw upstreamError(10);
}

function subscribe(call: Call): JsonObject {
  accountOf(call).subscribed = true;
  return SUCCESS;
}

function subscriptions(call: Call): JsonObject {
  const account = accountOf(call);
  if (!account.subscribed) return { data: [] };
  return {
    data: [
      {
        whatsapp_business_api_data: {
          id: call.core.config.app_id,
          name: 'Example gateway',
          link: 'https://example.org/',
        },
      },
    ],
  };
}

function unsubscribe(call: Call): JsonObject {
  accountOf(call).subscribed = false;
  return SUCCESS;
}

function requestSync(call: Call): JsonObject {
  const number = numberOf(call);
  requireProduct(call.body);
  const sync_type = requiredText(call, 'sync_type');
  requireOneOf(sync_type, 'sync_type', ['smb_app_state_sync', 'history']);
  checkSync(number, sync_type);
  number.sync_requested.push(sync_type);
  const request_id = call.core.ids.request();
  postSync(call.core, number, sync_type);
  return { messaging_product: 'whatsapp', request_id };
}

function checkSync(number: BusinessNumber, sync_type: string): void {
  if (!number.is_on_biz_app) {
    throw invalid('The phone number is not in use in the business app');
  }
  if (Date.now() - number.onboarded_at > SYNC_WINDOW_MS) throw upstreamError(2593108);
  if (number.sync_requested.includes(sync_type)) throw upstreamError(2593107);
}
