// The limits of an operation, as the OpenAPI document shows them under `x-rate-limit`.
import type { Endpoint, Variant } from '../endpoints/endpoint';
import { BODY_LIMIT_BYTES, BODY_NODES_MAX } from '../endpoints/parts/body-limits';
import { READ_SHARE } from '../limits/answers';
import { UNCOUNTED } from '../limits/load';

export interface BodyBounds {
  bytes_max: number;
  /** Values at any depth. */
  values_max: number;
}

export interface OperationLimits {
  /** True if a call counts towards the rate limit. */
  counted: boolean;
  body?: BodyBounds & {
    /** The bounds of the bodies that the operation passes on as a broadcast. */
    broadcast?: BodyBounds;
  };
  /** Items of a page: without `limit`, and at most. */
  page?: { default?: number; max: number };
  /**
   * Requests of one partner that a replica serves at a time, with all operations that name the same
   * bound.
   */
  in_flight_max?: Record<string, number>;
  /** When the service stops working on the call. Absent: the operator's setting. */
  timeout_ms?: number;
}

export function limitsOf(row: Endpoint): OperationLimits {
  const { counted = true, body, variant, query, reads, timeout_ms } = row;
  const limit = query?.properties?.['limit'];
  const in_flight_max = {
    ...(!counted && { uncounted: UNCOUNTED.of_holder_max }),
    ...(reads && { [`reads_of_${reads}s`]: READ_SHARE[reads] }),
  };
  return {
    counted,
    ...(body && { body: { ...bounds(row), ...(variant && { broadcast: bounds(variant) }) } }),
    ...(limit?.maximum !== undefined && {
      page: {
        ...(typeof limit.default === 'number' && { default: limit.default }),
        max: limit.maximum,
      },
    }),
    ...(Object.keys(in_flight_max).length > 0 && { in_flight_max }),
    ...(timeout_ms !== undefined && { timeout_ms }),
  };
}

const bounds = ({ body_limit_bytes, body_nodes_max }: Endpoint | Variant): BodyBounds => ({
  bytes_max: body_limit_bytes ?? BODY_LIMIT_BYTES,
  values_max: body_nodes_max ?? BODY_NODES_MAX,
});
