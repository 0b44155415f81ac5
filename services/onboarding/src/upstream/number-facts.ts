// What the upstream says of accounts and numbers, asked for at registration and refresh.
import { ApiError, toApiError } from '@bmg/common/errors';
import type { Call } from '@bmg/common/rpc';
import {
  eachPage,
  limitTierOf,
  readWithLimit,
  segment,
  type Json,
  type Upstream,
} from '@bmg/common/upstream';
import type { NumberFacts } from '../store/clients';

const NUMBER_FIELDS = [
  'id',
  'display_phone_number',
  'verified_name',
  'status',
  'quality_rating',
  'platform_type',
  'is_on_biz_app',
  'throughput',
];
const PAGE = 100;
const PAGES_MAX = 20;

const digits = (text: unknown): string => String(text ?? '').replace(/\D/g, '');
const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);

export async function fetchNumber(
  upstream: Upstream,
  phone_number_id: string,
  token: string,
  call: Call,
): Promise<NumberFacts> {
  const number = await readWithLimit((limit_field) =>
    upstream.request(
      {
        operation: 'GET /{phone_number_id}',
        method: 'GET',
        path: `/${segment(phone_number_id)}`,
        query: { fields: [...NUMBER_FIELDS, limit_field].join(',') },
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

export interface ListedNumber {
  id: string;
  is_on_biz_app: boolean;
}

/** The numbers of an account, most recently onboarded first. */
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

/** The portfolio that owns the account: the default business of later questions. Null when not readable. */
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
    // A token that may not read the owner still sends messages: only the default is missing then.
    if (error instanceof ApiError && error.upstream_code !== undefined) return null;
    throw error;
  }
}

/** Idempotent upstream: subscribes our app to the account's webhooks. */
export async function subscribe(
  upstream: Upstream,
  waba_id: string,
  token: string,
  call: Call,
): Promise<void> {
  await upstream.request(
    {
      operation: 'POST /{waba_id}/subscribed_apps',
      method: 'POST',
      path: `/${segment(waba_id)}/subscribed_apps`,
      token,
    },
    call,
  );
}

export async function unsubscribe(
  upstream: Upstream,
  waba_id: string,
  token: string,
  call: Call,
): Promise<void> {
  await upstream.request(
    {
      operation: 'DELETE /{waba_id}/subscribed_apps',
      method: 'DELETE',
      path: `/${segment(waba_id)}/subscribed_apps`,
      token,
    },
    call,
  );
}

export type SyncType = 'smb_app_state_sync' | 'history';
export type SyncOutcomes = Record<SyncType, string>;

/** `requested`, or `failed: ...` and why: a registration never fails for its sync. */
export interface SyncAnswer {
  outcome: string;
  failure?: ApiError;
}

const ALREADY_REQUESTED = 2593107;

export async function requestSync(
  upstream: Upstream,
  phone_number_id: string,
  sync_type: SyncType,
  token: string,
  call: Call,
): Promise<SyncAnswer> {
  try {
    await upstream.request(
      {
        operation: 'POST /{phone_number_id}/smb_app_data',
        method: 'POST',
        path: `/${segment(phone_number_id)}/smb_app_data`,
        body: { messaging_product: 'whatsapp', sync_type },
        token,
      },
      call,
    );
    return { outcome: 'requested' };
  } catch (error) {
    const failure = toApiError(error);
    if (failure.upstream_code === ALREADY_REQUESTED) return { outcome: 'requested' };
    return { outcome: `failed: ${failure.message}`, failure };
  }
}
