// The chain of one endpoint, built once from its row: admit → query → scope → body → RPC (at most
// once per Idempotency-Key) → answer. Checks that need only the headers come before the body is
// read. The usage record counts every admitted call, failed ones too.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Context } from 'koa';
import { waitedFor } from '@bmg/common/telemetry';
import { checkAccounts, checkEvents } from '../auth/restriction';
import { wabaHeader, type ScopeResolver } from '../auth/scope';
import {
  documentPath,
  usageName,
  type Endpoint,
  type Fields,
  type Input,
  type Variant,
} from '../endpoints/endpoint';
import { BODY_LIMIT_BYTES } from '../endpoints/parts/body-limits';
import { compile } from '../endpoints/parts/schema';
import type { BodyMemory, Load } from '../limits/load';
import { rateLimited } from '../limits/rate-limited';
import { admit, type AdmitDependencies, type Admitted } from './admit';
import { createAnswer, createUnaryAnswer, type AnswerDependencies } from './answer';
import { readBody, type BodyLimits } from './body';
import { expectedBytes } from './expected-bytes';
import { createIgnoredKeys } from './ignored';
import type { Meter } from './meter';
import { fitAnswer, hold } from './sending';
import type { State } from './state';

/** The limits of a body that its row does not take. */
const UNUSED_BODY = { limit_bytes: 16 * 1024, within_ms: 1_000 };

export interface ChainDependencies extends AdmitDependencies, AnswerDependencies {
  scope: ScopeResolver;
  meter: Pick<Meter, 'count'>;
  /** The public address of the API. */
  base_url: string;
}

/** `authorize` identifies the caller: by default the owner of the key in the request. */
export function createChain(
  endpoint: Endpoint,
  deps: ChainDependencies,
  authorize: typeof admit = admit,
): (context: Context) => Promise<void> {
  const { load, meter } = deps;
  const { timeout_ms, counted = true, reads } = endpoint;
  const usage = usageName(endpoint);
  const route = documentPath(endpoint);
  const ignoredKeys = createIgnoredKeys(endpoint);
  const readInput = createInputReader(endpoint, deps, ignoredKeys);
  const { variant } = endpoint;
  const answer = createAnswer(endpoint, deps);
  const answerVariant = variant && createUnaryAnswer({ ...endpoint, ...variant }, deps);
  const uncounted = { ...endpoint, counted: false };
  /** A key that was revoked or narrowed while its request waited for events gets none of them. */
  const admitAgain = async (context: Context): Promise<void> => {
    const { restriction } = await authorize(context, uncounted, deps);
    if (restriction) checkAccounts(restriction, endpoint, requestOf(context));
  };

  return async (context) => {
    const state = context.state as State;
    state.route = route;
    if (timeout_ms !== undefined) state.call.deadline = Date.now() + timeout_ms;
    const admitted = await authorize(context, endpoint, deps);
    const { partner_id, rate_limit } = admitted;
    state.partner_id = partner_id;
    ignoredKeys.ofQuery(context);
    let failed = true;
    const memory = load.bodyMemory(partner_id);
    try {
      if (!rate_limit.allowed) throw rateLimited('partner', rate_limit.retry_after_s);
      if (!counted) hold(context, await enterUncounted(context, partner_id, load));
      hold(context, load.enterPartner(partner_id));
      if (reads) hold(context, load.enterRead(partner_id, reads));
      const input = await readInput(context, admitted, memory);
      state.answer_room = load.answerRoom(partner_id);
      state.answer_room.resize(expectedBytes(endpoint, input));
      if (reads) await waitedFor(state.call.waits, 'turn', load.read_rate.turn(partner_id, 0));
      const is_error = await (answerVariant && variant.takes(input.body)
        ? answerVariant(context, input)
        : answer(context, input));
      if (admitted.restriction && Number(input.query['wait']) > 0) await admitAgain(context);
      const bytes = fitAnswer(context, load);
      if (reads) load.read_rate.count(partner_id, bytes);
      failed = is_error;
    } finally {
      memory.release();
      meter.count(partner_id, endpoint.verb, usage, failed);
    }
  };
}

/** The place of a request that the rate limit does not count, or the wait for one. */
const enterUncounted = (context: Context, partner_id: string, load: Load) =>
  load.enterUncounted(partner_id) ??
  waitedFor((context.state as State).call.waits, 'turn', waitForPlace(context, partner_id, load));

/** Reads the inputs that the row requires. Throws the error of the first step that refuses. */
function createInputReader(
  endpoint: Endpoint,
  { scope: resolveScope, base_url }: Pick<ChainDependencies, 'scope' | 'base_url'>,
  ignoredKeys: ReturnType<typeof createIgnoredKeys>,
) {
  const { query, body, scope } = endpoint;
  const limits = bodyLimits(endpoint);
  const checkQuery = query && compile(query, 'query');
  const checkBody = body && compile(body, 'body');
  return async (
    context: Context,
    { partner_id, session_id, restriction, approval_above, rate_limit }: Admitted,
    memory: BodyMemory,
  ): Promise<Input> => {
    const { params } = requestOf(context);
    if (restriction) checkAccounts(restriction, endpoint, requestOf(context));
    const input: Input = {
      partner_id,
      params,
      query: checkQuery?.(context.query) ?? {},
      body: {},
      base_url,
      target: undefined,
      waba_id: undefined,
      session_id,
      key_id: restriction?.key_id,
      person_id: restriction?.person_id,
      approval_above,
    };
    if (scope === 'number') {
      const { call } = context.state as State;
      input.target = await resolveScope(partner_id, context.headers, rate_limit.version, call);
    } else if (scope === 'filter') input.waba_id = wabaHeader(context.headers);
    if (checkBody) {
      const request = context.req as IncomingMessage;
      const { call } = context.state as State;
      const reading = readBody(request, { ...limits, memory });
      const given = await waitedFor(call.waits, 'body', reading);
      (context.state as State).given = given;
      ignoredKeys.ofBody(context, given);
      input.body = checkBody(given);
    } else if (hasBody(context)) {
      ignoredKeys.ofBody(context, await readUnused(context, memory));
    }
    checkEvents(restriction, endpoint, input.body);
    return input;
  };
}

const hasBody = ({ headers }: Context): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/** The body of a row that takes none, to name its keys; `{}` if it is large, late or no JSON. */
async function readUnused(context: Context, memory: BodyMemory): Promise<Fields> {
  try {
    return await readBody(context.req as IncomingMessage, { ...UNUSED_BODY, memory });
  } catch {
    return {};
  }
}

/** Its body stays unread meanwhile. */
async function waitForPlace(context: Context, partner_id: string, load: Load): Promise<() => void> {
  const gone = new AbortController();
  const response = context.res as ServerResponse;
  const leave = (): void => gone.abort();
  response.once('close', leave);
  if (response.destroyed || (context.req as IncomingMessage).socket.destroyed) leave();
  try {
    const is_chunked = context.headers['transfer-encoding'] !== undefined;
    const body_bytes = is_chunked ? undefined : Number(context.headers['content-length'] ?? 0);
    return await load.waitUncounted(partner_id, { body_bytes, gone: gone.signal });
  } finally {
    response.off('close', leave);
  }
}

const requestOf = (context: Context) => ({
  headers: context.headers,
  params: context['params'] as Record<string, string>,
});

/** A variant has larger limits, which only its own bodies may use. */
function bodyLimits(endpoint: Endpoint): BodyLimits {
  const { variant } = endpoint;
  const lower = limitsOf(endpoint);
  if (!variant) return lower;
  return { ...limitsOf(variant), lower: (body) => (variant.takes(body) ? undefined : lower) };
}

const limitsOf = ({
  body_limit_bytes: limit_bytes = BODY_LIMIT_BYTES,
  body_nodes_max: nodes_max,
  checkItems,
}: Endpoint | Variant): BodyLimits => ({ limit_bytes, nodes_max, checkItems });
