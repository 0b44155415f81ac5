// Calls the console's API below /dashboard/api. The session is a cookie; a change also carries the
// CSRF token that came with the session.

import { isIdle } from './activity';

export class ApiFailure extends Error {
  /** 0 without an answer. */
  readonly status: number = 0;
  readonly request_id: string | null = null;
  readonly retryable: boolean = false;
  readonly details: unknown = null;
  readonly payment_url: string | undefined;

  constructor(
    readonly code: string,
    message: string,
    facts: Partial<Omit<ApiFailure, keyof Error | 'code'>> = {},
  ) {
    super(message);
    Object.assign(this, facts);
  }
}

export interface NumberRef {
  waba_id: string;
  phone_number_id: string;
}

export interface Request {
  body?: object;
  query?: Record<string, string | number | null | undefined>;
  /** The client number that the request acts on. */
  number?: NumberRef | undefined;
  /** Makes a send safe to repeat. */
  idempotency_key?: string;
  signal?: AbortSignal;
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

let csrf_token = '';
let onSessionEnd = (): void => undefined;

export const rememberCsrfToken = (token: string): void => {
  csrf_token = token;
};
/** Has the person log in again; rejects if that is cancelled. */
let logInAgain = (refusal: ApiFailure): Promise<void> => Promise.reject(refusal);
/** Requests that are refused meanwhile wait for the same log-in. */
let logging_in: Promise<void> | undefined;

export const whenLogInIsOld = (listener: typeof logInAgain): void => {
  logInAgain = listener;
};
export const whenSessionEnds = (listener: () => void): void => {
  onSessionEnd = listener;
};

/** The address of a path below /dashboard/api. */
export function addressOf(path: string, query: Request['query'] = {}): string {
  const url = new URL(`api${path}`, document.baseURI);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== '') {
      url.searchParams.set(name, String(value));
    }
  }
  return url.href;
}

/** A change that needs a fresh log-in is made again after it. */
export async function call<T>(method: Method, path: string, request: Request = {}): Promise<T> {
  try {
    return await send<T>(method, path, request);
  } catch (error) {
    if (!(error instanceof ApiFailure) || error.code !== 'FRESH_LOG_IN_REQUIRED') throw error;
    logging_in ??= logInAgain(error).finally(() => (logging_in = undefined));
    await logging_in;
    return send<T>(method, path, request);
  }
}

async function send<T>(method: Method, path: string, request: Request): Promise<T> {
  const { body, query, number, idempotency_key, signal } = request;
  const response = await fetch(addressOf(path, query), {
    method,
    headers: {
      ...(body && { 'content-type': 'application/json' }),
      ...(isIdle() && { 'x-idle': '1' }),
      ...(method !== 'GET' && { 'x-csrf-token': csrf_token }),
      ...(number && { 'x-waba-id': number.waba_id, 'x-phone-number-id': number.phone_number_id }),
      ...(idempotency_key && { 'idempotency-key': idempotency_key }),
    },
    body: body ? JSON.stringify(body) : null,
    signal: signal ?? null,
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    const message = 'The gateway could not be reached. Check your connection and try again.';
    throw new ApiFailure('NO_ANSWER', message, { retryable: true });
  });
  const answer = (await response.json().catch(() => null)) as Answer | null;
  if (response.ok && answer?.success) return answer as T;
  throw toFailure(response, answer, path);
}

/** Ends the session, or with `everywhere` all sessions of the person or key. */
export async function signOut({ everywhere = false } = {}): Promise<void> {
  await call('DELETE', everywhere ? '/sessions' : '/session');
  onSessionEnd();
}

/** A file that an endpoint answers with. */
export async function readFile(
  path: string,
  { query, accept }: { query: Request['query']; accept: string },
): Promise<Blob> {
  const response = await fetch(addressOf(path, query), { headers: { accept } });
  if (response.ok) return response.blob();
  throw toFailure(response, (await response.json().catch(() => null)) as Answer | null, path);
}

interface Answer {
  success: boolean;
  error?: {
    code: string;
    message: string;
    request_id?: string;
    retryable?: boolean;
    details?: unknown;
    payment_url?: string;
  };
}

const SESSION_CODES = new Set(['UNAUTHORIZED', 'PARTNER_SUSPENDED']);
/** Requests of a browser that is not signed in. */
const LOG_INS = /^\/(session|session\/passkey.*|invitation.*)$/;

function toFailure(response: Response, answer: Answer | null, path: string): ApiFailure {
  const { status, headers } = response;
  const {
    code = 'INVALID_ANSWER',
    message = `The gateway answered HTTP ${status} without a reason.`,
    request_id = headers.get('x-request-id'),
    retryable = status >= 500,
    details = null,
    payment_url,
  } = answer?.error ?? {};
  if (SESSION_CODES.has(code) && !LOG_INS.test(path)) onSessionEnd();
  return new ApiFailure(code, message, { status, request_id, retryable, details, payment_url });
}
