// The one error type that services throw and the gateway renders. Its message is read by partners:
// no ids of ours, no stack, no library text; those go into `cause`, which is logged and never sent.
import { absenceIn } from './absence';
import { CATALOG, type ErrorCode } from './catalog';

/** Parts that restart are back within seconds; an engine takes longer as a rule. */
const RETRY_AFTER_S = 1;
const ENGINE_RETRY_AFTER_S = 5;

export interface ErrorExtras {
  upstream_code?: number | undefined;
  upstream_subcode?: number | null | undefined;
  /** The upstream's own id of its answer, for its support. Stays in the process that asked. */
  upstream_trace_id?: string | undefined;
  /** Any JSON value: what the partner needs to mend the request. */
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
    // Whoever is told to try again is told when.
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
  return new ApiError(code, message, {
    upstream_code: error.upstream_code,
    upstream_subcode: error.upstream_subcode,
    upstream_trace_id: error.upstream_trace_id,
    details: error.details,
    retryable: error.retryable,
    payment_url: error.payment_url,
    retry_after_s: error.retry_after_s,
    cause: error,
    ...extras,
  });
}

/** A field that is present but wrong (which of the 400s: the field's type, enum, range or length). */
export const invalidField = (field: string, problem: string, details: object = {}): ApiError =>
  new ApiError('INVALID_FIELD', `${field} ${problem}`, { details: { field, ...details } });

/** Required fields that are absent or blank, all of them at once. */
export const missingFields = (fields: string[], message?: string): ApiError =>
  new ApiError('MISSING_FIELDS', message ?? `missing required fields: ${fields.join(', ')}`, {
    details: { fields },
  });

/**
 * What an unexpected throw becomes: the cause is for the log alone. An engine that is away is no fault of
 * ours, and passes; `repeatable` is said of a read, which may be repeated whatever became of it.
 */
export function toApiError(error: unknown, { repeatable = false } = {}): ApiError {
  if (error instanceof ApiError) return error;
  const away = absenceIn(error);
  if (!away)
    return new ApiError('INTERNAL_ERROR', 'an unexpected error occurred', { cause: error });
  return new ApiError('SERVICE_UNAVAILABLE', 'a part of the service is not available, try again', {
    retry_after_s: ENGINE_RETRY_AFTER_S,
    // A write that was cut off may have been done: whoever repeats it blindly could do it twice.
    retryable: repeatable || away === 'nothing_done',
    cause: error,
  });
}
