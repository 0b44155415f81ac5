// Carries out an endpoint for a caller that the gateway has admitted already: the chain, the log
// line, the metrics and the limits are those of a request that came over the network. Only the
// answer is returned instead of sent.
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Context } from 'koa';
import { traceparent } from '@bmg/common/telemetry';
import type { Endpoint } from '../endpoints/endpoint';
import { stringify } from '../endpoints/parts/json-text';
import { observe, type ObserveDependencies } from './observe';
import { hold } from './sending';
import type { State } from './state';

export interface InsideRequest {
  verb: Endpoint['verb'];
  /** Includes the query. */
  path: string;
  params: Record<string, string>;
  /** Names in lower case. */
  headers: Record<string, string>;
  /** JSON text. */
  body?: string | undefined;
}

export interface InsideAnswer {
  status: number;
  /** JSON text. */
  body: string;
  /** Empty if the answer has no such header. */
  header(name: string): string;
}

/** What the inner request holds is released when the answer to `outer` is sent. */
export async function answerInside(
  outer: Context,
  { verb, path, params, headers, body }: InsideRequest,
  chain: (context: Context) => Promise<void>,
  deps: ObserveDependencies,
): Promise<InsideAnswer> {
  const { call } = outer.state as State;
  // Its socket is never connected: nothing that happens to this request affects the caller's
  // connection.
  const request = new IncomingMessage(new Socket());
  Object.assign(request, {
    method: verb,
    url: path,
    headers: {
      ...headers,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      accept: 'application/json',
      'x-request-id': call.request_id,
      traceparent: traceparent(call.span),
    },
    complete: true,
  });
  if (body !== undefined) request.push(body);
  request.push(null);
  const inner = outer.app.createContext(request, new ServerResponse(request)) as Context;
  inner.request.ip = outer.ip;
  inner['params'] = params;
  await observe(inner, () => chain(inner), deps);
  const state = inner.state as State;
  for (const leave of state.held ?? []) hold(outer, leave);
  hold(outer, () => state.answer_room?.release());
  return {
    status: inner.status,
    body: textOf(inner.body),
    header: (name) => String(inner.response.get(name) ?? ''),
  };
}

const textOf = (body: unknown): string =>
  typeof body === 'object' && body !== null && !Buffer.isBuffer(body)
    ? stringify(body)
    : String(body ?? '');
