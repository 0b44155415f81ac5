// Upstream requests about a business account: its numbers and their facts, its owner, and our
// webhook subscription to it.
import { ApiError } from '@bmg/common/errors';
import type { Call } from '@bmg/common/rpc';
import {
  eachPage,
  segment,
  type Json,
  type Upstream,
  limitTierOf,
  readWithLimit,
} from '@bmg/common/upstream';
import type { NumberFacts } from '../../ground/clients';

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

/** The business portfolio that owns the account. Null if the token may not read it. */
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

/** Returns true if our app receives the account's webhooks, or any app if no app ID is given. */
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

const FIELDS = [
  'id',
  'display_phone_number',
  'verified_name',
  'status',
  'quality_rating',
  'platform_type',
  'is_on_biz_app',
  'throughput',
];

const digits = (text: unknown): string => String(text ?? '').replace(/\D/g, '');
const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** Throws the upstream's error if it does not show the number to this token. */
export async function fetchNumber(
  upstream: Upstream,
  phone_number_id: string,
  token: string,
  call: Call,
): Promise<NumberFacts & { verified_name: string }> {
  const number = await readWithLimit((limit_field) =>
    upstream.request(
      {
        operation: 'GET /{phone_number_id}',
        method: 'GET',
        path: `/${segment(phone_number_id)}`,
        query: { fields: [...FIELDS, limit_field].join(',') },
        token,
      },
      call,
    ),
  );
  const throughput = number['throughput'];
  return {
    phone_number: digits(number['display_phone_number']),
    verified_name: textOrNull(number['verified_name']) ?? '',
    quality_rating: textOrNull(number['quality_rating']),
    messaging_limit_tier: limitTierOf(number),
    throughput_level: textOrNull(
      typeof throughput === 'object' && throughput !== null ? (throughput as Json)['level'] : null,
    ),
    is_on_biz_app: number['is_on_biz_app'] === true,
  };
}
