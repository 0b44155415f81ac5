// What a failing upstream becomes, for every kind of failure and every question that a row asks. The rule
// is general; what is said of single rows here is what the contract and its decisions say of them.
import type { FaultInput } from '../emulator';
import type { TableAnswer } from './endpoint-stage';

/** One question to the upstream that a row asks. */
export interface Question {
  method: string;
  /** With the ids of the request that asked it. */
  path: string;
}

export interface Kind {
  name: string;
  effect: Partial<FaultInput>;
  /** The upstream's code where it is an error answer. */
  code?: number;
}

export interface Expected {
  status: number;
  code?: string;
  upstream_code?: number | undefined;
  /** Undefined: either is right, as long as it is said. */
  retryable?: boolean | undefined;
  /** Whether the answer says after how many seconds to try again. */
  retry_after?: boolean;
  details?: unknown;
  /** Beyond the error: what is wrong with the answer. */
  check?(answer: TableAnswer): string[];
}

export const DETAILS = 'what the upstream said of it';
export const SUBCODE = 2_494_099;
/** An error may carry back what it was asked with: none of it may reach the partner. */
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
  { name: 'a time out', effect: { hang: true } },
];

/** What sends a message, places a call or creates something: whose outcome may be unknown. */
const SENDS = new Set([
  'sendText',
  'sendTemplate',
  'sendMedia',
  'sendInteractive',
  'sendLocation',
  'sendReaction',
  'placeCall',
  'createGroup',
  'createTemplate',
]);
/** Not to be put in a retry loop, whatever the failure. */
const NEVER_REPEAT: Record<string, RegExp> = {
  requestCode: /\/request_code$/,
  deregisterPhone: /\/deregister$/,
};
const DOWNLOADS = new Set(['downloadMedia', 'downloadContactMedia']);

/** In place of a status: the connection was broken in the middle of the answer. */
export const CUT_OFF = 0;

const SUCCESS: Expected = { status: 200 };
const CREATED: Expected = { status: 201 };

/** The rule. */
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

/** A registration goes on without what it can do without. */
const registering: Rule = (expected, { method, path }, kind) => {
  if (path.endsWith('/smb_app_data')) {
    return {
      ...CREATED,
      check: ({ body }) => {
        const { smb_app_state_sync, history } = body.coexistence_sync as Record<string, string>;
        const failed = [smb_app_state_sync, history].some((text) => text?.startsWith('failed: '));
        return failed ? [] : ['the sync is not said to have failed'];
      },
    };
  }
  // Whose the account is may not be readable; the number itself must be.
  const owner = method === 'GET' && ACCOUNT.test(path);
  return owner && isError(kind) ? CREATED : expected;
};

/** What the contract and the decisions say of single rows. */
export const RULES: Readonly<Record<string, Rule>> = {
  registerClient: registering,
  registerFromCode: (expected, question, kind) => {
    const { path } = question;
    const said = { upstream_code: kind.code, retryable: false };
    if (path.endsWith('/oauth/access_token')) {
      // Whether the code is spent is not known, and no message goes out by trying it again.
      if (!isError(kind)) return { ...expected, retryable: undefined };
      // A limit that passes has not looked at the code.
      if (kind.code === THROUGHPUT) return expected;
      return { ...expected, ...said, status: 400, code: 'CODE_EXCHANGE_FAILED' };
    }
    if (path.endsWith('/phone_numbers') && isError(kind) && kind.code !== THROUGHPUT) {
      return { ...expected, ...said, status: 400, code: 'DISCOVERY_FAILED' };
    }
    return registering(expected, question, kind);
  },
  // The client is deleted whatever the upstream says.
  deleteClient: () => SUCCESS,
  // A template that cannot be checked now is judged with every send.
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

/** A missing id is a missing file; the file itself comes without an error object. */
function downloading(expected: Expected, { path }: Question, kind: Kind): Expected {
  if (path.startsWith('/attachments/')) {
    // What is under way when it breaks is not to look whole.
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

/** What is wrong with an answer. */
export function problemsOf(answer: TableAnswer, expected: Expected): string[] {
  const problems: string[] = [];
  const differ = (what: string, got: unknown, wanted: unknown): void => {
    if (JSON.stringify(got) !== JSON.stringify(wanted)) {
      problems.push(`${what} is ${JSON.stringify(got)}, not ${JSON.stringify(wanted)}`);
    }
  };
  differ('status', answer.status, expected.status);
  if (answer.text.includes(SECRET)) problems.push('a token is in the answer');
  if (expected.status < 300) return [...problems, ...(expected.check?.(answer) ?? [])];
  const error = (answer.body?.error ?? {}) as Record<string, unknown>;
  differ('code', error['code'], expected.code);
  differ('upstream_code', error['upstream_code'], expected.upstream_code);
  differ('said retryable', typeof error['retryable'], 'boolean');
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
