// Carries out tool calls: each is one request of its row, through the chain of the row. A tool that
// sends needs a confirmation first.
import { ApiError, invalidField, toApiError } from '@bmg/common/errors';
import type { Peppers } from '@bmg/common/keys';
import { errorBody } from '../error-guide/error-body';
import { IGNORED_HEADER } from '../edge/ignored';
import type { InsideAnswer } from '../edge/inside';
import type { Endpoint, Fields } from '../endpoints/endpoint';
import { compile } from '../endpoints/parts/schema';
import { fingerprint, IDEMPOTENCY_KEY } from '../idempotency';
import { CONFIRMATION, pathOf, readArguments, type RowRequest } from './arguments';
import { createConfirmation, idempotencyKeyOf, type Confirmed } from './confirmation';
import { questionOf, type Dialog, type Preview, type Question } from './question';
import { endpointOf, tools, type Tool } from './tools';

/** The caller of one HTTP request. */
export interface Caller {
  partner_id: string;
  request_id: string;
  /** Carries out a row's request for the caller. */
  run(endpoint: Endpoint, request: RowRequest): Promise<InsideAnswer>;
}

export interface ToolResult {
  [key: string]: unknown;
  content: Array<{ type: 'text'; text: string }>;
  isError?: boolean;
}

/** A longer answer is of no use to a model. */
export const RESULT_BYTES_MAX = 1024 * 1024;
const CHECK = 'POST /messages/check';

/** A result, or a question that the client shows to its user first. */
export type Outcome = ToolResult | Question;

export const isQuestion = (outcome: Outcome): outcome is Question => 'message' in outcome;

/** Undefined if there is no such tool. Never throws: errors are results, in the standard form. */
export type CallTool = (
  name: string,
  given: Fields,
  caller: Caller,
  dialog?: Dialog,
) => Promise<Outcome | undefined>;

export function createCallTool(peppers: Peppers, docs_url: string): CallTool {
  const runners = new Map(
    tools.map((tool) => [tool.name, tool.sends ? createSend(tool, peppers) : createRead(tool)]),
  );
  return async (name, given, caller, dialog = { can_ask: false }) => {
    const run = runners.get(name);
    if (!run) return undefined;
    try {
      return await run(given, caller, dialog);
    } catch (error) {
      const body = errorBody(toApiError(error), caller.request_id, docs_url);
      return { ...textResult(body), isError: true };
    }
  };
}

type Runner = (given: Fields, caller: Caller, dialog: Dialog) => Promise<Outcome>;

const createRead =
  ({ endpoint }: Tool): Runner =>
  async (given, caller) =>
    resultOf(endpoint, await caller.run(endpoint, readArguments(endpoint, given)));

function createSend({ name, endpoint, sends, listed }: Tool, peppers: Peppers): Runner {
  const check = endpointOf(CHECK);
  const checkBody = compile(endpoint.body ?? {}, 'body');
  return async ({ [CONFIRMATION]: argument, ...given }, caller, { can_ask, reply }) => {
    const request = readArguments(endpoint, given);
    const { headers, ...input } = request;
    const of: Confirmed = {
      partner_id: caller.partner_id,
      fingerprint: await fingerprint(endpoint, input, headers),
    };
    if (reply?.is_accepted === false) return textResult(DECLINED);
    if (argument !== undefined || reply) {
      const confirmation = argument ?? reply?.confirmation;
      const key = idempotencyKeyOf(peppers, of, { text: confirmation, now: Date.now() });
      const confirmed = {
        ...request,
        headers: { ...headers, [IDEMPOTENCY_KEY.toLowerCase()]: key },
      };
      return resultOf(endpoint, await caller.run(endpoint, confirmed));
    }
    // Throws the faults of the send, which the check would only list, and fills in defaults.
    checkBody(structuredClone(request.body));
    const checked = { ...request, body: { ...request.body, kind: sends } };
    const answer = await caller.run(check, checked);
    if (answer.status >= 400) return resultOf(check, answer);
    const preview = previewOf(name, endpoint, request, JSON.parse(answer.body) as Checked);
    const proof = preview.is_possible ? createConfirmation(peppers, of, Date.now()) : undefined;
    if (proof && can_ask) {
      return { message: questionOf(listed.title, preview.fields), confirmation: proof.text };
    }
    return textResult({
      success: true,
      sent: false,
      ...preview.fields,
      [CONFIRMATION]: proof?.text ?? null,
      expires_at: proof?.expires_at ?? null,
    });
  };
}

const DECLINED = {
  success: true,
  sent: false,
  next: 'Nothing was sent: the person that you work for declined it. Call again only for a new request of theirs.',
};

interface Checked extends Pick<Preview, 'deliverable' | 'reasons'> {
  price: Preview['cost'];
  window: unknown;
  pace: unknown;
  broadcast: { total: number; cost: Preview['cost'] } | null;
}

/** What a send would do, from the answer of the check. */
function previewOf(
  name: string,
  { verb, path }: Endpoint,
  { headers, body }: RowRequest,
  { deliverable, reasons, price, window, pace, broadcast }: Checked,
) {
  const is_possible = deliverable !== 'no';
  return {
    is_possible,
    fields: {
      next: is_possible
        ? `Nothing was sent. Show this to the person you work for. To send, call ${name} again with the same arguments and this ${CONFIRMATION}.`
        : 'Nothing was sent, and there is nothing to confirm: the send would fail for the reasons below. Correct them and call again.',
      would_send: {
        request: `${verb} /v1${path}`,
        waba_id: headers['x-waba-id'] ?? null,
        phone_number_id: headers['x-phone-number-id'] ?? null,
        recipients: broadcast?.total ?? 1,
        body,
      },
      deliverable,
      cost: broadcast?.cost ?? price ?? null,
      reasons,
      window,
      pace,
      broadcast,
    },
  };
}

const textResult = (fields: object): ToolResult => ({
  content: [{ type: 'text', text: JSON.stringify(fields) }],
});

const REPLAYED =
  'This is the answer to an earlier call with this confirmation: nothing was sent again.';

function resultOf(endpoint: Endpoint, { status, body, header }: InsideAnswer): ToolResult {
  const bytes = Buffer.byteLength(body);
  if (bytes > RESULT_BYTES_MAX) throw tooLong(endpoint, bytes);
  const notes: string[] = [];
  if (header('Idempotency-Replayed') === 'true') notes.push(REPLAYED);
  const ignored = header(IGNORED_HEADER);
  if (ignored !== '') notes.push(`These arguments were ignored: ${ignored}.`);
  const retry_after = header('Retry-After');
  if (retry_after !== '') notes.push(`Wait ${retry_after} s before you try again.`);
  return {
    content: [body, ...notes].map((text) => ({ type: 'text', text })),
    ...(status >= 400 && { isError: true }),
  };
}

function tooLong({ query }: Endpoint, bytes: number): ApiError {
  const problem = `has ${bytes} bytes, more than the ${RESULT_BYTES_MAX} of a tool's answer`;
  return query?.properties?.['limit']
    ? invalidField('limit', `is too large: the answer ${problem}`)
    : new ApiError('INVALID_FIELD', `the answer ${problem}: use the REST API for it`);
}

/** The request as the chain of the row reads it. */
export const insideRequest = (endpoint: Endpoint, request: RowRequest) => ({
  verb: endpoint.verb,
  path: `/v1${pathOf(endpoint, request)}`,
  params: request.params,
  headers: request.headers,
  body: endpoint.body && JSON.stringify(request.body),
});
