// Maps upstream errors to ApiErrors. A code without a row becomes UPSTREAM_ERROR.
import { ApiError, type ErrorCode } from '../errors';

interface Row {
  code: ErrorCode;
  retryable: boolean;
  retry_after_s?: number;
  message?: string;
}

/** The upstream states waits in minutes at best; one second fits a limit per second. */
const SLOW_DOWN_S = 1;
const PAIR_LIMIT_S = 6;

const ROWS: Record<number, Row> = {
  // Recipient rules 6: permanent, a real phone number is required.
  131062: {
    code: 'AUTH_TEMPLATE_NEEDS_PHONE',
    retryable: false,
    message: 'an authentication template cannot be sent to a BSUID: a phone number is required',
  },
  130429: { code: 'UPSTREAM_ERROR', retryable: true, retry_after_s: SLOW_DOWN_S },
  131056: { code: 'UPSTREAM_ERROR', retryable: true, retry_after_s: PAIR_LIMIT_S },
  // Temporary refusals before anything was executed: a repeat is safe.
  4: { code: 'UPSTREAM_ERROR', retryable: true, retry_after_s: 60 },
  17: { code: 'UPSTREAM_ERROR', retryable: true, retry_after_s: 60 },
  613: { code: 'UPSTREAM_ERROR', retryable: true, retry_after_s: 60 },
  80007: { code: 'UPSTREAM_ERROR', retryable: true, retry_after_s: 60 },
  131048: { code: 'UPSTREAM_ERROR', retryable: true, retry_after_s: 60 },
  131016: { code: 'UPSTREAM_ERROR', retryable: true, retry_after_s: 5 },
  131057: { code: 'UPSTREAM_ERROR', retryable: true, retry_after_s: 60 },
  133004: { code: 'UPSTREAM_ERROR', retryable: true, retry_after_s: 5 },
};

/** The known fields of the upstream's error object. */
export interface UpstreamErrorBody {
  message?: unknown;
  code?: unknown;
  error_subcode?: unknown;
  error_data?: unknown;
  error_user_msg?: unknown;
  fbtrace_id?: unknown;
}

const TOKEN_SHAPES = [
  /EAA[A-Za-z0-9]{8,}/g,
  /(access_token|client_secret|input_token)=[^&\s"']+/gi,
  /Bearer\s+[^\s"']+/gi,
];

/** Removes the given secrets and everything that looks like a credential. */
export function scrub(text: string, secrets: string[]): string {
  let clean = text;
  for (const secret of secrets) {
    if (secret.length > 0) clean = clean.split(secret).join('[redacted]');
  }
  for (const shape of TOKEN_SHAPES) clean = clean.replace(shape, '[redacted]');
  return clean;
}

/**
 * The error that a partner gets: upstream_code, upstream_subcode and details as received
 * (error_data.details if there is one, otherwise error_data, otherwise null).
 */
export function upstreamError(
  error: UpstreamErrorBody,
  secrets: string[],
  trace_id?: string,
): ApiError {
  const code = Number(error.code);
  const subcode = Number(error.error_subcode);
  const row = Number.isInteger(code) ? ROWS[code] : undefined;
  const message =
    typeof error.message === 'string' ? error.message : 'the upstream refused the request';
  return new ApiError(row?.code ?? 'UPSTREAM_ERROR', row?.message ?? scrub(message, secrets), {
    upstream_code: Number.isInteger(code) && error.code !== null ? code : undefined,
    upstream_subcode: error.error_subcode != null && Number.isInteger(subcode) ? subcode : null,
    upstream_trace_id: typeof error.fbtrace_id === 'string' ? error.fbtrace_id : trace_id,
    details: detailsOf(error, secrets),
    retryable: row?.retryable ?? false,
    retry_after_s: row?.retry_after_s,
  });
}

function detailsOf({ error_data, error_user_msg }: UpstreamErrorBody, secrets: string[]): unknown {
  const nested =
    typeof error_data === 'object' && error_data !== null && 'details' in error_data
      ? error_data.details
      : error_data;
  const details = nested ?? error_user_msg ?? null;
  if (details === null) return null;
  return scrubValue(details, secrets);
}

/** Far deeper than anything the upstream sends. */
const DEPTH_MAX = 30;

/** Scrubs the texts inside the value: scrubbed JSON text may be no JSON any more. */
function scrubValue(value: unknown, secrets: string[], depth = 0): unknown {
  if (depth > DEPTH_MAX) return null;
  if (Array.isArray(value)) return value.map((item) => scrubValue(item, secrets, depth + 1));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [
        scrub(key, secrets),
        scrubValue(member, secrets, depth + 1),
      ]),
    );
  }
  const text = String(value);
  const clean = scrub(text, secrets);
  // A number can be a secret too: a PIN.
  return clean === text ? value : clean;
}
