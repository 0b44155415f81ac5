// Upstream requests about a business account: its numbers, its owner, and our webhook subscription
// to it.
import { ApiError } from '@bmg/common/errors';
import type { Call } from '@bmg/common/rpc';
import { eachPage, segment, type Json, type Upstream } from '@bmg/common/upstream';

const PAGE = 100;
const PAGES_MAX = 20;

export interface ListedNumber {
  id: string;
  is_on_biz_app: boolean;
}

/** The numbers of an account, the most recently onboarded first. */
export async function listNumbers(
  upstream: Upstream,
  waba_id: string,
  token: string,
  call: Call,
): Promise<ListedNumber[]> {
  const numbers: ListedNumber[] = [];
  const ask = (after: string | undefined): Promise<Json> =>
    upstream.request(
      {
        operation: 'GET /{waba_id}/phone_numbers',
        method: 'GET',
        path: `/${segment(waba_id)}/phone_numbers`,
        query: { fields: 'id,display_phone_number,is_on_biz_app', limit: PAGE, after },
        token,
      },
      call,
    );
  for await (const { body } of eachPage(ask, PAGES_MAX)) {
    for (const item of Array.isArray(body['data']) ? (body['data'] as Json[]) : []) {
      numbers.push({ id: String(item['id']), is_on_biz_app: item['is_on_biz_app'] === true });
    }
  }
  return numbers;
}

/**
 * The ID of the business portfolio that owns the account: the default for requests about a
 * portfolio. Null if the token may not read it.
 */
export async function fetchBusinessId(
  upstream: Upstream,
  waba_id: string,
  token: string,
  call: Call,
): Promise<string | null> {
  try {
    const body = await upstream.request(
      {
        operation: 'GET /{waba_id}',
        method: 'GET',
        path: `/${segment(waba_id)}`,
        query: { fields: 'owner_business_info' },
        token,
      },
      call,
    );
    const owner = body['owner_business_info'] as Json | undefined;
    return owner?.['id'] === undefined ? null : String(owner['id']);
  } catch (error) {
    // A token that may not read the owner still sends messages, so this is not an error.
    if (error instanceof ApiError && error.upstream_code !== undefined) return null;
    throw error;
  }
}

/** One request about our app's subscription to the account's webhooks. */
const subscription =
  (method: 'GET' | 'POST' | 'DELETE') =>
  (upstream: Upstream, waba_id: string, token: string, call: Call): Promise<Json> =>
    upstream.request(
      {
        operation: `${method} /{waba_id}/subscribed_apps`,
        method,
        path: `/${segment(waba_id)}/subscribed_apps`,
        token,
      },
      call,
    );

/** Subscribes our app to the account's webhooks. Idempotent upstream. */
export const subscribe = subscription('POST');
/** Ends our app's subscription to the account's webhooks. */
export const unsubscribe = subscription('DELETE');
const subscribedApps = subscription('GET');

/** Whether our app receives the account's webhooks; without an app ID, whether any app does. */
export async function isSubscribed(
  upstream: Upstream,
  waba_id: string,
  { token, app_id }: { token: string; app_id: string | undefined },
  call: Call,
): Promise<boolean> {
  const body = await subscribedApps(upstream, waba_id, token, call);
  const apps = Array.isArray(body['data']) ? (body['data'] as Json[]) : [];
  return apps.some(({ whatsapp_business_api_data: app }) =>
    app_id === undefined ? true : (app as Json | undefined)?.['id'] === app_id,
  );
}
