// Calls the RPC of a row, at most once per Idempotency-Key, and answers with its reply.
import type { Context } from 'koa';
import type { Call, Client, Codec, Definition } from '@bmg/common/rpc';
import { isAudited } from '../audit/audited';
import { changeOf, idsOf } from '../audit/change';
import type { Recorder } from '../audit/recorder';
import type { Endpoint, Fields, Input } from '../endpoints/endpoint';
import { hasKey, writeAnswer, type Answer, type Guards } from '../idempotency';
import type { Load } from '../limits/load';
import { encodeLong } from './large-body';
import type { State } from './state';
import { streamAnswer, type Chunk } from './stream';

export interface AnswerDependencies {
  /** Bounds requests in flight, the memory of bodies and the bytes of answers. */
  load: Load;
  client(definition: Definition): Client<Definition>;
  /** Records changes. */
  recorder: Recorder;
  /** For the rows that take an Idempotency-Key. */
  guards: Guards;
}

/** Calls the row's RPC and answers; resolves to whether the answer is an error. */
type Responder = (context: Context, input: Input) => Promise<boolean>;

export function createAnswer(endpoint: Endpoint, deps: AnswerDependencies): Responder {
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

export function createUnaryAnswer(endpoint: Endpoint, deps: AnswerDependencies): Responder {
  const { status = 200, reply: makeReply } = endpoint;
  const makeMessage = messageMaker(endpoint);
  const guard = endpoint.idempotent ? deps.guards(endpoint) : undefined;
  const record = createRecord(endpoint, deps);
  const toAnswer = (reply: Fields, input: Input): Answer => ({
    status: typeof status === 'function' ? status(reply) : status,
    body: { success: true, ...(makeReply ? makeReply(reply, input) : reply) },
  });

  return async (context, input) => {
    const { call } = context.state as State;
    const message = await makeMessage(input);
    // Any row: the compiler has checked request and reply where the row is declared.
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
  { recorder }: Pick<AnswerDependencies, 'recorder'>,
): ((context: Context, input: Input, rpc: Unary) => Unary) | undefined {
  if (!isAudited(endpoint)) return undefined;
  return (context, input, rpc) => (message, call) =>
    recorder.run(
      changeOf(endpoint, input, context.state as State),
      { call, address: context.ip },
      () => rpc(message, call),
      (reply) => idsOf(endpoint.audit, reply),
    );
}

function createStreamedAnswer(endpoint: Endpoint, deps: AnswerDependencies): Responder {
  const makeMessage = messageMaker(endpoint);
  const { load } = deps;
  return async (context, input) => {
    const state = context.state as State;
    const message = await makeMessage(input);
    // Any row, as above: one with `stream` or `csv` names an RPC that streams chunks.
    type Streamed = (message: unknown, call: Call) => AsyncIterable<Chunk>;
    const chunks = (methodOf(endpoint, deps) as Streamed)(message, state.call);
    const limited = endpoint.reads ? atReadRate(chunks, input.partner_id, load) : chunks;
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

const methodOf = ({ rpc }: Endpoint, { client }: AnswerDependencies): unknown =>
  client(rpc.definition)[rpc.method];

/** How the row makes the request message of its RPC. */
function messageMaker(endpoint: Endpoint): (input: Input) => Promise<object> {
  // Method has `any` for the message; here it is any object.
  const { requestType } = endpoint.rpc.codecs as { requestType: Codec<object> };
  const request = requestFor(endpoint);
  return async (input) => encodeLong(requestType, await request(input));
}

/** The row's own function, or one that sends what `RowCall.request` states. */
export const requestFor = ({
  scope,
  request = ({ params, query, body, target, partner_id, waba_id }: Input): object => ({
    ...query,
    ...body,
    ...params,
    ...(scope === 'number' ? { target } : { partner_id }),
    // Also without a header: a key of the body that the row does not have is no filter.
    ...(scope === 'filter' && { waba_id }),
  }),
}: Pick<Endpoint, 'scope' | 'request'>) => request;
