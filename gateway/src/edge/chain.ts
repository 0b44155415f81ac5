// The chain of one endpoint, built once from its row: admit → query → scope → body → RPC (at most
// once per Idempotency-Key) → answer. Checks that need only the headers come before the body is
// read. The usage record counts every admitted call, failed ones too.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Context } from 'koa';
import type { Call, Client, Codec, Definition } from '@bmg/common/rpc';
import { waitedFor } from '@bmg/common/telemetry';
import { isAudited } from '../audit/audited';
import { changeOf, idsOf } from '../audit/change';
import type { Recorder } from '../audit/recorder';
import { checkAccounts, checkEvents } from '../auth/restriction';
import { wabaHeader, type ScopeResolver } from '../auth/scope';
import {
  usageName,
  type Endpoint,
  type Fields,
  type Input,
  type Variant,
} from '../endpoints/endpoint';
import { BODY_LIMIT_BYTES } from '../endpoints/parts/body-limits';
import { compile } from '../endpoints/parts/schema';
import { hasKey, writeAnswer, type Answer, type Guards } from '../idempotency';
import type { BodyMemory, Load } from '../limits/load';
import { rateLimited } from '../limits/rate-limited';
import { admit, type AdmitDependencies, type Admitted } from './admit';
import { readBody, type BodyLimits } from './body';
import { expectedBytes } from './expected-bytes';
import { EVERY_KEY, IGNORED_HEADER, IgnoredKeys, walkerOf, type Walk } from './ignored';
import { encodeLong } from './large-body';
import type { Meter } from './meter';
import { fitAnswer, hold } from './sending';
import type { State } from './state';
import { streamAnswer, type Chunk } from './stream';

/** The limits of a body that its row does not take. */
const UNUSED_BODY = { limit_bytes: 16 * 1024, within_ms: 1_000 };

export interface ChainDependencies extends AdmitDependencies {
  /**
   * Bounds requests in flight, the memory of bodies and the bytes of answers; unbounded without it.
   */
  load?: Load;
  scope: ScopeResolver;
  meter: Pick<Meter, 'count'>;
  client(definition: Definition): Client<Definition>;
  /** The public address of the API. */
  base_url: string;
  /** Records changes; without it, none are. */
  recorder?: Recorder;
  /** For the rows that take an Idempotency-Key. */
  guards?: Guards;
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
  const route = endpoint.path.replace(/:(\w+)/g, '{$1}');
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
    const memory = load?.bodyMemory(partner_id);
    try {
      if (!rate_limit.allowed) throw rateLimited('partner', rate_limit.retry_after_s);
      if (!counted && load) {
        const leave = load.enterUncounted(partner_id);
        const { waits } = state.call;
        const place = leave ?? waitedFor(waits, 'turn', waitForPlace(context, partner_id, load));
        hold(context, await place);
      }
      hold(context, load?.enterPartner(partner_id));
      if (reads) hold(context, load?.enterRead(partner_id, reads));
      const input = await readInput(context, admitted, memory);
      state.answer_room = load?.answerRoom(partner_id);
      state.answer_room?.resize(expectedBytes(endpoint, input));
      if (reads && load) {
        await waitedFor(state.call.waits, 'turn', load.read_rate.turn(partner_id, 0));
      }
      const is_error = await (answerVariant && variant.takes(input.body)
        ? answerVariant(context, input)
        : answer(context, input));
      if (admitted.restriction && Number(input.query['wait']) > 0) await admitAgain(context);
      const bytes = fitAnswer(context, load);
      if (reads) load?.read_rate.count(partner_id, bytes);
      failed = is_error;
    } finally {
      memory?.release();
      meter.count(partner_id, endpoint.verb, usage, failed);
    }
  };
}

/**
 * Reads the inputs that the row's schemas and scope require. Throws the error of the first step
 * that refuses.
 */
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
    memory: BodyMemory | undefined,
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
async function readUnused(context: Context, memory: BodyMemory | undefined): Promise<Fields> {
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

/** Names them in the answer before the work is done, and before a fault is found. */
function createIgnoredKeys({ query, body }: Pick<Endpoint, 'query' | 'body'>) {
  const walkQuery = query ? walkerOf(query) : EVERY_KEY;
  const walkBody = body ? walkerOf(body) : EVERY_KEY;
  const name = (context: Context, walk: Walk | undefined, value: unknown): void => {
    if (!walk) return;
    const state = context.state as State;
    const ignored = state.ignored ?? new IgnoredKeys();
    walk(value, ignored);
    const header = ignored.header();
    if (header === undefined) return;
    state.ignored = ignored;
    context.set(IGNORED_HEADER, header);
  };
  return {
    ofQuery(context: Context): void {
      if (context.querystring !== '') name(context, walkQuery, context.query);
    },
    ofBody(context: Context, given: Fields): void {
      name(context, walkBody, given);
    },
  };
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

/** Calls the row's RPC and answers; resolves to whether the answer is an error. */
type Responder = (context: Context, input: Input) => Promise<boolean>;

function createAnswer(endpoint: Endpoint, deps: ChainDependencies): Responder {
  if (endpoint.stream) return createStreamedAnswer(endpoint, deps);
  const answer = createUnaryAnswer(endpoint, deps);
  if (!endpoint.csv) return answer;
  const answerCsv = createStreamedAnswer({ ...endpoint, rpc: endpoint.csv }, deps);
  return (context, input) => {
    context.vary('Accept');
    return context.accepts('json', 'csv') === 'csv'
      ? answerCsv(context, input)
      : answer(context, input);
  };
}

function createUnaryAnswer(endpoint: Endpoint, deps: ChainDependencies): Responder {
  const { status = 200, reply: makeReply } = endpoint;
  const makeMessage = messageMaker(endpoint);
  const guard = endpoint.idempotent ? deps.guards?.(endpoint) : undefined;
  const toAnswer = (reply: Fields, input: Input): Answer => ({
    status: typeof status === 'function' ? status(reply) : status,
    body: { success: true, ...(makeReply ? makeReply(reply, input) : reply) },
  });

  const record = createRecord(endpoint, deps);

  return async (context, input) => {
    const { call } = context.state as State;
    const message = await makeMessage(input);
    // The chain handles any row: the compiler has checked request and reply where the row is
    // declared.
    const rpc = methodOf(endpoint, deps) as Unary;
    const method = record ? record(context, input, rpc) : rpc;
    const answer =
      guard && hasKey(context.headers)
        ? await guard({
            headers: context.headers,
            input,
            call,
            run: (call) => method(message, call),
            answer: (reply) => toAnswer(reply, input),
          })
        : toAnswer(await method(message, call), input);
    writeAnswer(context, answer);
    return answer.status >= 400;
  };
}

type Unary = (message: unknown, call: Call) => Promise<Fields>;

/** Undefined for the rows that the audit log leaves out: a send or a read costs nothing more. */
function createRecord(
  endpoint: Endpoint,
  { recorder }: Pick<ChainDependencies, 'recorder'>,
): ((context: Context, input: Input, rpc: Unary) => Unary) | undefined {
  if (!recorder || !isAudited(endpoint)) return undefined;
  return (context, input, rpc) => (message, call) =>
    recorder.run(
      changeOf(endpoint, input, context.state as State),
      { call, address: context.ip },
      () => rpc(message, call),
      (reply) => idsOf(endpoint.audit, reply),
    );
}

function createStreamedAnswer(endpoint: Endpoint, deps: ChainDependencies): Responder {
  const makeMessage = messageMaker(endpoint);
  const { load } = deps;
  return async (context, input) => {
    const state = context.state as State;
    const message = await makeMessage(input);
    // Any row, as above: one with `stream` or `csv` names a streaming RPC, whose messages are
    // chunks.
    const method = methodOf(endpoint, deps) as (
      message: unknown,
      call: Call,
    ) => AsyncIterable<Chunk>;
    const chunks = method(message, state.call);
    const limited = endpoint.reads && load ? atReadRate(chunks, input.partner_id, load) : chunks;
    state.error = await streamAnswer(context, limited);
    return state.error !== undefined;
  };
}

/** Reads of a partner that are streamed move no more bytes a second than its other reads. */
async function* atReadRate(
  chunks: AsyncIterable<Chunk>,
  partner_id: string,
  { read_rate }: Load,
): AsyncGenerator<Chunk> {
  for await (const chunk of chunks) {
    await read_rate.turn(partner_id, chunk.data.length);
    yield chunk;
  }
}

const methodOf = ({ rpc }: Endpoint, { client }: ChainDependencies): unknown =>
  client(rpc.definition)[rpc.method];

/** How the row makes the request message of its RPC. */
function messageMaker({
  rpc,
  request = defaultRequest,
}: Endpoint): (input: Input) => Promise<object> {
  // Method has `any` for the message; here it is any object.
  const { requestType } = rpc.codecs as { requestType: Codec<object> };
  return async (input) => encodeLong(requestType, await request(input));
}

const defaultRequest = ({ params, query, body, target, partner_id, waba_id }: Input): Fields => ({
  ...query,
  ...body,
  ...params,
  ...(target ? { target } : { partner_id, ...(waba_id !== undefined && { waba_id }) }),
});
