// The one error type that services throw and the gateway renders. Partners read its message: it
// holds no internal ids, stack or library text. Those go into `cause`, which is logged and never
// sent.
import { absenceIn } from './absence';
import { CATALOG, type ErrorCode } from './catalog';

/** A service restarts within seconds; an engine usually takes longer. */
const RETRY_AFTER_S = 1;
const ENGINE_RETRY_AFTER_S = 5;

export interface ErrorExtras {
  upstream_code?: number | undefined;
  upstream_subcode?: number | null | undefined;
  /** The upstream's id of its answer, for its support desk. It does not cross gRPC. */
  upstream_trace_id?: string | undefined;
  /** Any JSON value: facts that help the partner to correct the request. */
  details?: unknown;
  retryable?: boolean | undefined;
  payment_url?: string | undefined;
  retry_after_s?: number | undefined;
  cause?: unknown;
}

export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly upstream_code: number | undefined;
  readonly upstream_subcode: number | null;
  readonly upstream_trace_id: string | undefined;
  readonly details: unknown;
  readonly retryable: boolean;
  readonly payment_url: string | undefined;
  readonly retry_after_s: number | undefined;

  constructor(code: ErrorCode, message: string, extras: ErrorExtras = {}) {
    super(message, extras.cause === undefined ? undefined : { cause: extras.cause });
    this.name = 'ApiError';
    this.code = code;
    this.upstream_code = extras.upstream_code;
    this.upstream_subcode = extras.upstream_subcode ?? null;
    this.upstream_trace_id = extras.upstream_trace_id;
    this.details = extras.details ?? null;
    this.retryable = extras.retryable ?? CATALOG[code].retryable;
    this.payment_url = extras.payment_url;
    // Every SERVICE_UNAVAILABLE has a Retry-After.
    this.retry_after_s =
      extras.retry_after_s ?? (code === 'SERVICE_UNAVAILABLE' ? RETRY_AFTER_S : undefined);
  }

  get http(): number {
    return CATALOG[this.code].http;
  }
}

export interface ErrorChanges extends ErrorExtras {
  code?: ErrorCode;
  message?: string;
}

/** A copy of the error with the given properties replaced. The original becomes its cause. */
export function rewrap(error: ApiError, changes: ErrorChanges): ApiError {
  const { code = error.code, message = error.message, ...extras } = changes;
  return new ApiError(code, message, { ...error, cause: error, ...extras });
}

/** A field that is present but has the wrong type, range or length, or is not in its enum. */
export const invalidField = (field: string, problem: string, details: object = {}): ApiError =>
  new ApiError('INVALID_FIELD', `${field} ${problem}`, { details: { field, ...details } });

/** Required fields that are absent or blank; lists all of them. */
export const missingFields = (fields: string[], message?: string): ApiError =>
  new ApiError('MISSING_FIELDS', message ?? `missing required fields: ${fields.join(', ')}`, {
    details: { fields },
  });

/**
 * Turns any thrown value into an ApiError. An unavailable engine becomes SERVICE_UNAVAILABLE,
 * everything else INTERNAL_ERROR. `repeatable` is true for a read, which is safe to repeat even if
 * it was executed.
 */
export function toApiError(error: unknown, { repeatable = false } = {}): ApiError {
  if (error instanceof ApiError) return error;
  const away = absenceIn(error);
  if (!away)
    return new ApiError('INTERNAL_ERROR', 'an unexpected error occurred', { cause: error });
  return new ApiError('SERVICE_UNAVAILABLE', 'part of the service is unavailable: try again', {
    retry_after_s: ENGINE_RETRY_AFTER_S,
    // An interrupted write may have been executed: repeating it could execute it twice.
    retryable: repeatable || away === 'nothing_done',
    cause: error,
  });
}

/** `what` completes "there are 10 … a partner may have", such as "webhook endpoints, the most that". */
export const limitReached = (limit: number, what: string): ApiError =>
  new ApiError('LIMIT_REACHED', `there are ${limit} ${what}`, { details: { limit } });
