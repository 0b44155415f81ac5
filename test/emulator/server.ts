// Handles one request: pages and control first, all others as the platform would, with faults
// applied and an entry in the journal.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { authenticate, authorise, checkProof, credentialsOf } from './access';
import { handleControl } from './control';
import { Reply, type Call, type Core } from './core';
import { handlePage } from './dialog';
import { errorBody, invalid, UpstreamError, upstreamError } from './errors';
import { after, before, type JsonOutcome } from './fault-effects';
import {
  BodyTooLarge,
  decodeSegment,
  parseBody,
  readBody,
  sendJson,
  sendStream,
  sendText,
} from './http';
import { BODY_LOG_MAX_BYTES, type RequestEntry } from './journal';
import { routes } from './operations';
import { DOWNLOAD_PATH, handleDownload } from './operations/media';
import { Router } from './router';
import { buildToken, type JsonObject, type Token } from './types';
import { createHash } from 'node:crypto';

const VERSION = /^v\d+\.\d+$/;
const SEGMENTS_MAX = 8;
const USAGE = '{"call_count":1,"total_cputime":1,"total_time":1}';
const NO_TOKEN: Token = buildToken({ token: '', type: 'NONE', scopes: [] });

export function createEmulatorServer(core: Core): Server {
  const router = new Router(routes);
  const server = createServer((request, response) => {
    handle(core, router, request, response).catch((error: unknown) => {
      // The caller disconnected while sending its body.
      if (request.destroyed && !request.complete) return;
      // A defect of the emulator, not of its caller: log it and answer like a platform error.
      process.stderr.write(`emulator: ${error instanceof Error ? error.stack : String(error)}\n`);
      sendJson(response, 500, errorBody(upstreamError(131000)));
    });
  });
  server.keepAliveTimeout = 65_000;
  return server;
}

async function handle(
  core: Core,
  router: Router,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const target = request.url ?? '/';
  const mark = target.indexOf('?');
  const path = mark < 0 ? target : target.slice(0, mark);
  const query = mark < 0 ? '' : target.slice(mark + 1);
  if (request.method !== 'GET') response.once('close', () => core.stateFile?.touch());
  if (path.startsWith('/control')) return handleControl(core, request, response, path, query);
  if (handlePage(core, request, response, path, query)) return;
  const entry = newEntry(core, request, path, query);
  const finish = (): void => {
    entry.status ??= response.headersSent ? response.statusCode : null;
    entry.duration_ms = Date.now() - entry.time;
  };
  response.once('close', finish);
  await handleUpstream({ core, router, request, response, entry });
}

function newEntry(core: Core, request: IncomingMessage, path: string, query: string): RequestEntry {
  const entry: RequestEntry = {
    seq: core.journal.requests.nextSeq(),
    time: Date.now(),
    method: request.method ?? 'GET',
    path,
    query,
    authorization: request.headers.authorization,
    headers: request.headers,
    body: null,
    status: null,
    duration_ms: null,
    fault: null,
  };
  core.journal.requests.add(entry);
  return entry;
}

interface Exchange {
  core: Core;
  router: Router;
  request: IncomingMessage;
  response: ServerResponse;
  entry: RequestEntry;
}

async function handleUpstream(exchange: Exchange): Promise<void> {
  const { core, router, request, response, entry } = exchange;
  const segments = segmentsOf(entry.path);
  const nodes = segments.slice(1);
  const streamed = router.streams(core.state, entry.method, nodes);
  let raw = '';
  if (!streamed) {
    try {
      raw = await readBody(request);
    } catch (error) {
      if (!(error instanceof BodyTooLarge)) return void response.destroy();
      return sendJson(response, 413, errorBody(invalid('The request body is too large')));
    }
    logBody(entry, raw);
  }
  const fault = core.faults.take({
    ...{ method: entry.method, path: entry.path, body: raw },
    node_id: nodes[0] ?? '',
  });
  if (fault) {
    entry.fault = `${fault.id}:${fault.effect}`;
    if (!(await before(fault, exchange))) return;
  }
  const outcome = await execute(exchange, segments, raw);
  entry.status = outcome.status;
  if (fault && after(fault, response, outcome)) return;
  await answer(response, outcome);
}

async function execute(
  exchange: Exchange,
  segments: string[],
  raw: string,
): Promise<JsonOutcome | Reply> {
  const { core, request, entry } = exchange;
  const { path } = entry;
  const parameters = new URLSearchParams(entry.query);
  try {
    if (path.startsWith(DOWNLOAD_PATH)) {
      return handleDownload(core, parameters, credentialsOf(request.headers, parameters));
    }
    const [version = ''] = segments;
    if (!VERSION.test(version)) {
      throw upstreamError(2500, `Unknown path components: ${path}`);
    }
    if (version !== core.config.api_version) {
      throw upstreamError(
        2635,
        `You are calling version ${version} of the API. Please use ${core.config.api_version}`,
      );
    }
    const result = await dispatch(exchange, segments.slice(1), parameters, raw);
    return result instanceof Reply ? result : { status: 200, json: result };
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    // Discard the rest of a streamed body, so that the answer reaches the sender.
    if (!request.complete) request.resume();
    return { status: error.status, json: errorBody(error) };
  }
}

function dispatch(
  exchange: Exchange,
  segments: string[],
  query: URLSearchParams,
  raw: string,
): JsonObject | Reply | Promise<JsonObject | Reply> {
  const { core, router, request, entry } = exchange;
  const { method, path } = entry;
  const literal = segments[0] === 'oauth' || segments[0] === 'debug_token';
  let token = NO_TOKEN;
  if (!literal) {
    token = authenticate(core.state, core.config, credentialsOf(request.headers, query));
    checkProof(core.config, token, query);
  }
  const { route, kind } = router.find(core.state, core.config.app_id, method, segments);
  if (kind !== null) {
    authorise(core.state, token, route, { kind, id: segments[0] as string, method });
  }
  const call: Call = {
    core,
    state: core.state,
    method,
    segments,
    query,
    url: core.config.public_url + path,
    request,
    raw,
    entry,
    body: route.body === 'stream' ? {} : parseBody(raw, request.headers['content-type']),
    token,
  };
  return route.handler(call);
}

function segmentsOf(path: string): string[] {
  return path
    .split('/', SEGMENTS_MAX)
    .filter((part) => part !== '')
    .map(decodeSegment);
}

function logBody(entry: RequestEntry, raw: string): void {
  if (raw === '') return;
  entry.body =
    raw.length <= BODY_LOG_MAX_BYTES
      ? raw
      : { size: Buffer.byteLength(raw), sha256: createHash('sha256').update(raw).digest('hex') };
}

async function answer(response: ServerResponse, outcome: JsonOutcome | Reply): Promise<void> {
  if (!(outcome instanceof Reply)) {
    return sendJson(response, outcome.status, outcome.json, { 'x-app-usage': USAGE });
  }
  const { status, body, headers } = outcome;
  if (typeof body === 'string' || Buffer.isBuffer(body)) {
    return sendText(response, status, body, headers);
  }
  return sendStream(response, status, body, headers);
}
