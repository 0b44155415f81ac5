// The error catalogue: one row per published code, with its HTTP and gRPC status. No other module
// knows a status.
import { status } from '@grpc/grpc-js';

export interface CatalogRow {
  http: number;
  grpc: status;
  /** Whether the same request can succeed later; a single error may say otherwise. */
  retryable: boolean;
}

export const CATALOG = {
  // 400: malformed or missing data.
  MISSING_FIELDS: { http: 400, grpc: status.INVALID_ARGUMENT, retryable: false },
  MISSING_WABA: { http: 400, grpc: status.INVALID_ARGUMENT, retryable: false },
  INVALID_PAYLOAD: { http: 400, grpc: status.INVALID_ARGUMENT, retryable: false },
  INVALID_FIELD: { http: 400, grpc: status.INVALID_ARGUMENT, retryable: false },
  CODE_EXCHANGE_FAILED: { http: 400, grpc: status.INVALID_ARGUMENT, retryable: false },
  DISCOVERY_FAILED: { http: 400, grpc: status.FAILED_PRECONDITION, retryable: false },
  CONFIRMATION_REQUIRED: { http: 400, grpc: status.INVALID_ARGUMENT, retryable: false },
  AUTH_TEMPLATE_NEEDS_PHONE: { http: 400, grpc: status.INVALID_ARGUMENT, retryable: false },
  UNSUPPORTED_CONTENT_TYPE: { http: 400, grpc: status.INVALID_ARGUMENT, retryable: false },
  MEDIA_TOO_LARGE: { http: 400, grpc: status.INVALID_ARGUMENT, retryable: false },
  WABA_NOT_FOUND: { http: 400, grpc: status.NOT_FOUND, retryable: false },
  // 401: key missing or invalid, or onboarding completed too long after expiry.
  UNAUTHORIZED: { http: 401, grpc: status.UNAUTHENTICATED, retryable: false },
  INVALID_PARTNER_KEY: { http: 401, grpc: status.UNAUTHENTICATED, retryable: false },
  INVALID_KEY: { http: 401, grpc: status.UNAUTHENTICATED, retryable: false },
  // 402: payment.
  TRIAL_EXPIRED: { http: 402, grpc: status.FAILED_PRECONDITION, retryable: false },
  PAYMENT_FAILED: { http: 402, grpc: status.FAILED_PRECONDITION, retryable: false },
  PAYMENT_ACTION_REQUIRED: { http: 402, grpc: status.FAILED_PRECONDITION, retryable: false },
  PAYMENT_REQUIRED: { http: 402, grpc: status.FAILED_PRECONDITION, retryable: false },
  CARD_REQUIRED: { http: 402, grpc: status.FAILED_PRECONDITION, retryable: false },
  // The contract's guide table says 403, its code table 402: the code table is the rule.
  SUBSCRIPTION_CANCELLED: { http: 402, grpc: status.FAILED_PRECONDITION, retryable: false },
  // 403: not allowed.
  WABA_LIMIT_REACHED: { http: 403, grpc: status.PERMISSION_DENIED, retryable: false },
  TOO_MANY_CONTACTS: { http: 403, grpc: status.PERMISSION_DENIED, retryable: false },
  PARTNER_SUSPENDED: { http: 403, grpc: status.PERMISSION_DENIED, retryable: false },
  // An addition to the contract's list: a full quota of what stays, where waiting does not help.
  LIMIT_REACHED: { http: 403, grpc: status.PERMISSION_DENIED, retryable: false },
  // Additions to the contract's list: what an API key beside the partner key may not do, and what
  // only people do.
  SCOPE_MISSING: { http: 403, grpc: status.PERMISSION_DENIED, retryable: false },
  KEY_RESTRICTED: { http: 403, grpc: status.PERMISSION_DENIED, retryable: false },
  PERSON_REQUIRED: { http: 403, grpc: status.PERMISSION_DENIED, retryable: false },
  FRESH_LOG_IN_REQUIRED: { http: 403, grpc: status.PERMISSION_DENIED, retryable: false },
  SECOND_PERSON_REQUIRED: { http: 403, grpc: status.PERMISSION_DENIED, retryable: false },
  ADDRESS_NOT_ALLOWED: { http: 403, grpc: status.PERMISSION_DENIED, retryable: false },
  // 404: missing.
  WABA_NOT_REGISTERED: { http: 404, grpc: status.NOT_FOUND, retryable: false },
  NOT_FOUND: { http: 404, grpc: status.NOT_FOUND, retryable: false },
  // A paused number becomes active again without a request, usually within minutes.
  NO_ACTIVE_WABA: { http: 404, grpc: status.NOT_FOUND, retryable: true },
  MEDIA_NOT_FOUND: { http: 404, grpc: status.NOT_FOUND, retryable: false },
  // 409, 422: state conflict. The codes of the Idempotency-Key, of pause, resume and approval are
  // additions to the contract's list.
  CANNOT_CANCEL: { http: 409, grpc: status.FAILED_PRECONDITION, retryable: false },
  CANNOT_PAUSE: { http: 409, grpc: status.FAILED_PRECONDITION, retryable: false },
  CANNOT_RESUME: { http: 409, grpc: status.FAILED_PRECONDITION, retryable: false },
  CANNOT_APPROVE: { http: 409, grpc: status.FAILED_PRECONDITION, retryable: false },
  IDEMPOTENCY_KEY_IN_USE: { http: 409, grpc: status.ABORTED, retryable: true },
  IDEMPOTENCY_KEY_REUSED: { http: 422, grpc: status.INVALID_ARGUMENT, retryable: false },
  // 429: rate or quota.
  RATE_LIMIT_EXCEEDED: { http: 429, grpc: status.RESOURCE_EXHAUSTED, retryable: true },
  RATE_LIMIT: { http: 429, grpc: status.RESOURCE_EXHAUSTED, retryable: true },
  QUOTA_EXCEEDED: { http: 429, grpc: status.RESOURCE_EXHAUSTED, retryable: false },
  // 500: service failure.
  SERVER_ERROR: { http: 500, grpc: status.INTERNAL, retryable: false },
  INTERNAL_ERROR: { http: 500, grpc: status.INTERNAL, retryable: false },
  // 502: the code table of the contract; its guide table also shows 500.
  UPSTREAM_ERROR: { http: 502, grpc: status.UNKNOWN, retryable: false },
  // 503: not configured. SERVICE_UNAVAILABLE is an addition: part of the mesh is temporarily
  // unavailable.
  PLATFORM_NOT_CONFIGURED: { http: 503, grpc: status.FAILED_PRECONDITION, retryable: false },
  NOT_CONFIGURED: { http: 503, grpc: status.FAILED_PRECONDITION, retryable: false },
  SERVICE_UNAVAILABLE: { http: 503, grpc: status.UNAVAILABLE, retryable: true },
} as const satisfies Record<string, CatalogRow>;

export type ErrorCode = keyof typeof CATALOG;

export const isErrorCode = (text: string): text is ErrorCode => Object.hasOwn(CATALOG, text);
