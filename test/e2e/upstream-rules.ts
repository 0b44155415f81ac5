// Expected outcome of every kind of upstream failure for every upstream call of a row: one general
// rule, and the exceptions that the contract makes for single rows.
import type { FaultInput } from '../emulator';
import type { TableAnswer } from './endpoint-stage';
import { words } from '../testkit/words';

/** One call that a row makes to the upstream. */
export interface Question {
  method: string;
  /** Includes the IDs of the request that caused it. */
  path: string;
}

export interface Kind {
  name: string;
  effect: Partial<FaultInput>;
  /** The upstream's error code, if the failure is an error answer. */
  code?: number;
}

export interface Expected {
  status: number;
  code?: string;
  upstream_code?: number | undefined;
  /** Undefined accepts either value, but the field must be present. */
  retryable?: boolean | undefined;
  /** True if the answer has a Retry-After header. */
  retry_after?: boolean;
  details?: unknown;
  /** Further checks of the answer; returns the problems. */
  check?(answer: TableAnswer): string[];
}

export const DETAILS = 'details from the upstream';
const SUBCODE = 2_494_099;
/** An upstream error may echo the token of the request, which must not reach the partner. */
export const SECRET = 'EAAsecretsecretsecret1234';
const THROUGHPUT = 130_429;
const NEEDS_PHONE = 131_062;
const UNKNOWN_OBJECT_SUBCODE = 33;

/** The contract's table of upstream codes, and one that is in no table. */
const CODES = [131_047, NEEDS_PHONE, 131_000, 131_026, 132_001, THROUGHPUT, 100, 10, 999_999];

export const KINDS: readonly Kind[] = [
  ...CODES.map((code) => ({
    name: `code ${code}`,
    code,
    effect: {
      error: {
        status: 400,
        code,
        subcode: SUBCODE,
        message: `(#${code}) refused, access_token=${SECRET}`,
        error_data: { messaging_product: 'whatsapp', details: DETAILS },
      },
    },
  })),
  {
    name: 'code 100 of an unknown object',
    code: 100,
    effect: { error: { code: 100, subcode: UNKNOWN_OBJECT_SUBCODE, message: 'does not exist' } },
  },
  { name: 'an HTML page', effect: { html: { status: 502 } } },
  { name: 'an HTML page with status 200', effect: { html: { status: 200 } } },
  { name: 'an empty 200', effect: { empty: true } },
  { name: 'half of the JSON', effect: { truncated: true } },
  { name: 'a connection dropped before', effect: { drop: 'before' } },
  { name: 'a connection dropped after', effect: { drop: 'after' } },
  { name: 'a timeout', effect: { hang: true } },
];

/** Sends, calls and creations: their outcome may be unknown. */
const SENDS = new Set(
  words(`
  sendText sendTemplate sendMedia sendInteractive sendLocation sendContacts sendReaction placeCall
  createGroup createTemplate
`),
);
/** Never retryable, whatever the failure: the contract forbids generic retries. */
const NEVER_REPEAT: Record<string, RegExp> = {
  requestCode: /\/request_code$/,
  deregisterPhone: /\/deregister$/,
};
const DOWNLOADS = new Set(['downloadMedia', 'downloadContactMedia']);

/** Used instead of a status when the connection broke in the middle of the answer. */
export const CUT_OFF = 0;

const SUCCESS: Expected = { status: 200 };
const CREATED: Expected = { status: 201 };

/** The general rule. */
function general(operation: string, question: Question, { code, effect }: Kind): Expected {
  if (code === undefined) {
    const send = SENDS.has(operation) && question.method !== 'GET';
    return {
      status: 502,
      code: 'UPSTREAM_ERROR',
      upstream_code: undefined,
      ...(send && { retryable: false, details: { outcome: 'unknown' } }),
      ...(question.method === 'GET' && { retryable: true }),
    };
  }
  const unknownObject = effect.error?.subcode === UNKNOWN_OBJECT_SUBCODE;
  return {
    status: code === NEEDS_PHONE ? 400 : 502,
    code: code === NEEDS_PHONE ? 'AUTH_TEMPLATE_NEEDS_PHONE' : 'UPSTREAM_ERROR',
    upstream_code: code,
    retryable: code === THROUGHPUT,
    retry_after: code === THROUGHPUT,
    details: unknownObject ? null : DETAILS,
  };
}

type Rule = (expected: Expected, question: Question, kind: Kind) => Expected;

const isError = ({ code }: Kind): boolean => code !== undefined;

/** The emulator's accounts begin with a 9, its numbers with an 8. */
const ACCOUNT = /\/9\d+$/;

/** A registration continues when an optional step fails. */
const registering: Rule = (expected, { method, path }, kind) => {
  if (path.endsWith('/smb_app_data')) {
    return {
      ...CREATED,
      check: ({ body }) => {
        const { smb_app_state_sync, history } = body.coexistence_sync as Record<string, string>;
        const failed = [smb_app_state_sync, history].some((text) => text?.startsWith('failed: '));
        return failed ? [] : ['the answer does not report the failed sync'];
      },
    };
  }
  // The owner of the account is optional; the number must be readable.
  const owner = method === 'GET' && ACCOUNT.test(path);
  return owner && isError(kind) ? CREATED : expected;
};

/** The contract's exceptions for single rows. */
export const RULES: Readonly<Record<string, Rule>> = {
  registerClient: registering,
  registerFromCode: (expected, question, kind) => {
    const { path } = question;
    const said = { upstream_code: kind.code, retryable: false };
    if (path.endsWith('/oauth/access_token')) {
      // The code may be used up, but a retry cannot send a message twice.
      if (!isError(kind)) return { ...expected, retryable: undefined };
      // A throughput limit does not use up the code.
      if (kind.code === THROUGHPUT) return expected;
      return { ...expected, ...said, status: 400, code: 'CODE_EXCHANGE_FAILED' };
    }
    if (path.endsWith('/phone_numbers') && isError(kind) && kind.code !== THROUGHPUT) {
      return { ...expected, ...said, status: 400, code: 'DISCOVERY_FAILED' };
    }
    return registering(expected, question, kind);
  },
  // The client is deleted whatever the upstream returns.
  deleteClient: () => SUCCESS,
  // If the template cannot be checked at creation, every send checks it.
  createBroadcast: () => CREATED,
  ...Object.fromEntries(
    [...DOWNLOADS].map((operation): [string, Rule] => [operation, downloading]),
  ),
  ...Object.fromEntries(
    Object.entries(NEVER_REPEAT).map(([operation, path]): [string, Rule] => [
      operation,
      (expected, question) =>
        path.test(question.path) ? { ...expected, retryable: false, retry_after: false } : expected,
    ]),
  ),
};

/** An unknown ID is a missing file; a failing file download has no error object. */
function downloading(expected: Expected, { path }: Question, kind: Kind): Expected {
  if (path.startsWith('/attachments/')) {
    // A download that breaks must not look complete.
    if (kind.effect.truncated) return { status: CUT_OFF };
    return { status: 502, code: 'UPSTREAM_ERROR', upstream_code: undefined };
  }
  return kind.effect.error?.subcode === UNKNOWN_OBJECT_SUBCODE
    ? { ...expected, status: 404, code: 'MEDIA_NOT_FOUND', upstream_code: 100, retryable: false }
    : expected;
}

export const expectedOf = (operation: string, question: Question, kind: Kind): Expected => {
  const expected = general(operation, question, kind);
  return RULES[operation]?.(expected, question, kind) ?? expected;
};

/** Compares an answer with the expected outcome and returns the differences. */
export function problemsOf(answer: TableAnswer, expected: Expected): string[] {
  const problems: string[] = [];
  const differ = (what: string, got: unknown, wanted: unknown): void => {
    if (JSON.stringify(got) !== JSON.stringify(wanted)) {
      problems.push(`${what} is ${JSON.stringify(got)}, not ${JSON.stringify(wanted)}`);
    }
  };
  differ('status', answer.status, expected.status);
  if (answer.text.includes(SECRET)) problems.push('a token is in the answer');
  if (problems.length > 0) return [...problems, answer.text.slice(0, 300)];
  if (expected.status < 300) return expected.check?.(answer) ?? [];
  const error = (answer.body?.error ?? {}) as Record<string, unknown>;
  differ('code', error['code'], expected.code);
  differ('upstream_code', error['upstream_code'], expected.upstream_code);
  differ('the type of retryable', typeof error['retryable'], 'boolean');
  if (expected.retryable !== undefined) differ('retryable', error['retryable'], expected.retryable);
  if (expected.details !== undefined) differ('details', error['details'], expected.details);
  if (expected.retry_after !== undefined) {
    differ('Retry-After', answer.headers.has('retry-after'), expected.retry_after);
  }
  if (expected.upstream_code !== undefined && expected.details === DETAILS) {
    differ('upstream_subcode', error['upstream_subcode'], SUBCODE);
  }
  return problems;
}
