// Which webhook fields the upstream sends to our app, and the subscription to those that are
// missing; and whether the app is subscribed to the webhooks of the connected accounts. What is not
// subscribed never arrives, and nothing else shows that.
import { ApiError } from '@bmg/common/errors';
import type { Call } from '@bmg/common/rpc';
import { isObject, itemsOf, segment } from '@bmg/common/upstream';
import type { SubscribeAppRequest, SubscribeAppResponse } from '@bmg/proto/onboarding';
import { appToken, isSubscribed } from '../connect/upstream';
import type { Dependencies } from '../dependencies';
import { secretIdentity, type Client } from '../ground/clients';

/** The fields of the contract: every webhook that the normaliser reads or keeps. */
export const WEBHOOK_FIELDS: readonly string[] = [
  'messages',
  'smb_message_echoes',
  'message_echoes',
  'history',
  'smb_app_state_sync',
  'message_template_status_update',
  'message_template_quality_update',
  'message_template_components_update',
  'template_category_update',
  'template_correct_category_detection',
  'account_update',
  'account_review_update',
  'account_alerts',
  'account_settings_update',
  'business_capability_update',
  'business_status_update',
  'phone_number_quality_update',
  'phone_number_name_update',
  'security',
  'calls',
  'group_lifecycle_update',
  'group_participants_update',
  'group_settings_update',
  'group_status_update',
  'messaging_handovers',
  'standby',
  'flows',
  'user_preferences',
  'payment_configuration_update',
  'partner_solutions',
  'automatic_events',
  'tracking_events',
];
const OBJECT = 'whatsapp_business_account';

export interface AppSubscription {
  /** Undefined: the app gets no webhooks. */
  callback_url: string | undefined;
  missing: string[];
  /** Fields of the app that the service does not handle. */
  others: string[];
}

/** Throws PLATFORM_NOT_CONFIGURED without the app's ID and secret, or the upstream's refusal. */
export async function readAppSubscription(
  deps: Dependencies,
  call: Call,
): Promise<AppSubscription> {
  const answer = await requestOf(deps, 'GET', call);
  const found = itemsOf(answer).find(({ object }) => object === OBJECT);
  const listed = Array.isArray(found?.['fields']) ? (found['fields'] as unknown[]) : [];
  const fields = listed.map((field) => String(isObject(field) ? field['name'] : field));
  const url = found?.['callback_url'];
  return {
    callback_url: typeof url === 'string' && url !== '' ? url : undefined,
    missing: WEBHOOK_FIELDS.filter((field) => !fields.includes(field)),
    others: fields.filter((field) => !WEBHOOK_FIELDS.includes(field)),
  };
}

/**
 * Adds what is missing, and keeps every field that the app has. The address changes only to one
 * that is given. Throws MISSING_FIELDS if the app has none and none is given.
 */
export async function subscribeApp(
  deps: Dependencies,
  { check_only, callback_url: given, verify_token }: SubscribeAppRequest,
  call: Call,
): Promise<SubscribeAppResponse> {
  const { callback_url: present, missing, others } = await readAppSubscription(deps, call);
  const callback_url = given ?? present;
  const is_complete = missing.length === 0 && callback_url === present;
  if (check_only || is_complete) {
    return { callback_url: present, missing, others, changed: false };
  }
  if (callback_url === undefined) {
    throw new ApiError('MISSING_FIELDS', 'the app has no callback address yet: give one', {
      details: { fields: ['callback_url'] },
    });
  }
  const fields = [...WEBHOOK_FIELDS, ...others].join(',');
  const body = { object: OBJECT, callback_url, fields, verify_token };
  await requestOf(deps, 'POST', call, body);
  return { callback_url, missing, others, changed: true };
}

function requestOf(
  { settings, upstream }: Dependencies,
  method: 'GET' | 'POST',
  call: Call,
  body?: Record<string, string>,
) {
  const { UPSTREAM_APP_ID: app_id, UPSTREAM_APP_SECRET: app_secret } = settings;
  if (!app_id || !app_secret) {
    throw new ApiError('PLATFORM_NOT_CONFIGURED', 'set UPSTREAM_APP_ID and UPSTREAM_APP_SECRET');
  }
  const token = appToken({ app_id, app_secret });
  return upstream.request(
    {
      operation: `${method} /{app_id}/subscriptions`,
      method,
      path: `/${segment(app_id)}/subscriptions`,
      body,
      token,
      secrets: [token, app_secret, ...(body?.['verify_token'] ? [body['verify_token']] : [])],
    },
    call,
  );
}

interface Subscriptions {
  asked: number;
  /** One line for each account without events: its ID and the reason. */
  findings: string[];
}

/** Checks the most recent accounts, a few at a time: a command must not flood the upstream. */
const CLIENTS_MAX = 500;
const ACCOUNTS_MAX = 50;
const AT_ONCE = 8;

export async function findSubscriptions(deps: Dependencies, call: Call): Promise<Subscriptions> {
  const active = await deps.clients.newestActive(CLIENTS_MAX);
  const accounts = [...new Map(active.map((one) => [one.waba_id, one])).values()];
  const asked = accounts.slice(0, ACCOUNTS_MAX);
  const findings: string[] = [];
  const waiting = asked.values();
  const worker = async (): Promise<void> => {
    for (const client of waiting) {
      const reason = await reasonOf(deps, client, call);
      if (reason !== null) findings.push(`${client.waba_id} ${reason}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return { asked: asked.length, findings };
}

async function reasonOf(
  { settings, vault, upstream }: Dependencies,
  client: Client,
  call: Call,
): Promise<string | null> {
  try {
    const token = vault.open(secretIdentity(client, 'token'), client.token);
    const app_id = settings.UPSTREAM_APP_ID;
    const subscribed = await isSubscribed(upstream, client.waba_id, { token, app_id }, call);
    return subscribed ? null : 'is not subscribed';
  } catch (error) {
    if (!(error instanceof ApiError) || error.upstream_code === undefined) throw error;
    return `cannot be checked (upstream code ${error.upstream_code})`;
  }
}
