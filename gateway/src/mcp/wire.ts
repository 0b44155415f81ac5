// POST /mcp: the tools and guides for agents. Its steps are those of an endpoint: origin → key →
// rate limit → places in flight → body; then the SDK reads the message. A tool call is a request of
// its row, admitted by the key and the token of the bucket that the HTTP request has brought.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type Router from '@koa/router';
import type { Context } from 'koa';
import { ApiError } from '@bmg/common/errors';
import type { Logger } from '@bmg/common/telemetry';
import { countRefusal, refusalOf } from '../auth/restriction';
import type { Auth } from '../auth/wire';
import type { Documentation } from '../docs';
import { admit, KEY, type Admission, type Admitted } from '../edge/admit';
import { readBody } from '../edge/body';
import { createChain, type ChainDependencies } from '../edge/chain';
import { answerInside } from '../edge/inside';
import type { ObserveDependencies } from '../edge/observe';
import { hold } from '../edge/sending';
import type { State } from '../edge/state';
import type { Endpoint, Fields } from '../endpoints/endpoint';
import { BODY_LIMIT_BYTES } from '../endpoints/parts/body-limits';
import { rateLimited } from '../limits/rate-limited';
import { createCallTool, insideRequest, type Caller } from './calls';
import { createMcpServer } from './server';
import { endpointOf, tools } from './tools';

interface McpDependencies {
  auth: Auth;
  chain: ChainDependencies;
  observe: ObserveDependencies;
  docs: Documentation;
  log: Logger;
}

const MCP_PATH = '/mcp';
/** The row of each tool checks the scope of the key. */
const ADMISSION: Admission = { verb: 'POST', scope: 'partner', any_scope: true };
const METHOD_NOT_ALLOWED = 405;
const FORBIDDEN = 403;
/** JSON-RPC's range for errors of a server. */
const SERVER_ERROR = -32_000;

export const wireMcp = (deps: McpDependencies): ((router: Router<State>) => void) => {
  const answer = createAnswer(deps);
  return (router) => {
    router.post(MCP_PATH, answer);
    // Clients may open a stream of the server or end a session: the server has neither.
    router.register(MCP_PATH, ['GET', 'DELETE'], (context: Context) => {
      (context.state as State).route = MCP_PATH;
      context.set('Allow', 'POST');
      refuse(context, METHOD_NOT_ALLOWED, 'only POST is allowed: there are no streams or sessions');
    });
  };
};

function createAnswer({ auth, chain, observe, docs, log }: McpDependencies) {
  const { public_url } = docs;
  const call = createCallTool(auth.peppers, observe.docs_url);
  const answerMessage = createMcpServer({ call, docs, log });
  const own_origin = new URL(public_url).origin;
  const runs = createRuns(chain, observe);
  const { load, meter } = chain;
  return async (context: Context): Promise<void> => {
    const state = context.state as State;
    state.route = MCP_PATH;
    context.set('Cache-Control', 'no-store');
    if (!isAllowedOrigin(context.get('origin'), own_origin)) {
      return refuse(context, FORBIDDEN, `requests of browsers come from ${own_origin} only`);
    }
    const admitted = await admitAgent(context, chain);
    const { partner_id, rate_limit } = admitted;
    state.partner_id = partner_id;
    const memory = load.bodyMemory(partner_id);
    let failed = true;
    let is_row = false;
    try {
      if (!rate_limit.allowed) throw rateLimited('partner', rate_limit.retry_after_s);
      let leave: (() => void) | undefined = load.enterPartner(partner_id);
      const leaveOnce = (): void => {
        leave?.();
        leave = undefined;
      };
      hold(context, leaveOnce);
      const request = context.req as IncomingMessage;
      const body = await readBody(request, { limit_bytes: BODY_LIMIT_BYTES, memory });
      const caller: Caller = {
        partner_id,
        request_id: state.call.request_id,
        run(endpoint, rowRequest) {
          is_row = true;
          // The row takes a place of its own: one request must not need two.
          leaveOnce();
          return runs(context, endpoint, admitted, rowRequest);
        },
      };
      await send(context, await answerMessage(webRequest(context, public_url), body, caller));
      failed = context.status >= 400;
    } finally {
      memory.release();
      // The row has counted a tool call.
      if (!is_row) meter.count(partner_id, context.method, MCP_PATH, failed);
    }
  };
}

/**
 * The chains of the rows that tools use. The first check of the caller is that of the HTTP request;
 * a later one, after a wait for events, reads the key again.
 */
function createRuns(deps: ChainDependencies, observe: ObserveDependencies) {
  const admissions = new WeakMap<Context, { outer: Context; admitted?: Admitted }>();
  const authorize: typeof admit = async (inner, row) => {
    const { outer, admitted } = admissions.get(inner) as { outer: Context; admitted?: Admitted };
    admissions.set(inner, { outer });
    const current = admitted ?? (await admit(outer, { ...ADMISSION, counted: false }, deps));
    const { restriction } = current;
    (inner.state as State).key_id = restriction?.key_id;
    const refusal = refusalOf(restriction, row, inner.ip);
    if (refusal) throw countRefusal(refusal);
    return current;
  };
  const rows = new Set<Endpoint>([
    ...tools.map(({ endpoint }) => endpoint),
    endpointOf('POST /messages/check'),
  ]);
  const chains = new Map([...rows].map((row) => [row, createChain(row, deps, authorize)]));
  return (
    context: Context,
    endpoint: Endpoint,
    admitted: Admitted,
    request: Parameters<typeof insideRequest>[1],
  ) => {
    const chain = chains.get(endpoint) as (inner: Context) => Promise<void>;
    const run = (inner: Context): Promise<void> => {
      admissions.set(inner, { outer: context, admitted });
      return chain(inner);
    };
    return answerInside(context, insideRequest(endpoint, request), run, observe);
  };
}

/** Clients of MCP send the key as a bearer token; the header of the REST API comes first. */
async function admitAgent(context: Context, deps: ChainDependencies): Promise<Admitted> {
  const headers = context.req.headers as IncomingHttpHeaders;
  headers[KEY] ||= /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
  try {
    return await admit(context, ADMISSION, deps);
  } catch (error) {
    if (error instanceof ApiError && error.http === 401) context.set('WWW-Authenticate', 'Bearer');
    throw error;
  }
}

/**
 * Programs send no origin. A page of another site must not reach a gateway in the network of its
 * reader.
 */
const isAllowedOrigin = (origin: string, own_origin: string): boolean =>
  origin === '' || origin === own_origin;

/** For the SDK, without the key. */
function webRequest({ headers }: Context, public_url: string): Request {
  const passed = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === 'string' && !SECRET.has(name)) passed.set(name, value);
  }
  return new Request(public_url + MCP_PATH, { method: 'POST', headers: passed });
}

const SECRET: ReadonlySet<string> = new Set([KEY, 'authorization', 'cookie']);

async function send(context: Context, response: Response): Promise<void> {
  context.body = await response.text();
  context.status = response.status;
  context.set('Content-Type', response.headers.get('content-type') ?? 'application/json');
}

function refuse(context: Context, status: number, message: string): void {
  const error: Fields = { code: SERVER_ERROR, message };
  context.body = { jsonrpc: '2.0', error, id: null };
  context.status = status;
}
