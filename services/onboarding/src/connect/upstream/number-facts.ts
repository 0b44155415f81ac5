// The upstream's facts about a number. Fetched at registration, on a refresh, and after an
// event that says that a fact has changed without its new value.
import type { Call } from '@bmg/common/rpc';
import {
  limitTierOf,
  readWithLimit,
  segment,
  type Json,
  type Upstream,
} from '@bmg/common/upstream';
import type { NumberFacts } from '../../ground/clients';

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
): Promise<NumberFacts> {
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
