// The HTTP listener of the REST API, as a component that drains and stops.
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ApiError } from '@bmg/common/errors';
import type { Component } from '@bmg/common/lifecycle';
import { createBoundedServer } from '@bmg/common/overload';
import { errorBody } from './error-body';

export interface HttpServerOptions {
  host: string;
  port: number;
  /** Headers of every response. */
  notices: Record<string, string>;
  docs_url: string;
  proxy_hops: number;
}

export interface HttpServer extends Component {
  /** The port listened on; known once started. */
  port(): number;
}

export function createHttpServer(
  listener: RequestListener,
  { host, port, notices, docs_url, proxy_hops }: HttpServerOptions,
): HttpServer {
  const server = createBoundedServer(
    { server: 'gateway', proxy_hops, refusal: (late) => refusal(late, notices, docs_url) },
    listener,
  );
  return {
    name: 'http',
    port: () => (server.address() as AddressInfo).port,
    start: () => server.open(port, host),
    drain: () => server.drain(),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
      }),
  };
}

/** Malformed or timed-out requests never reach Koa, so the standard error body is written here. */
function refusal(late: boolean, notices: Record<string, string>, docs_url: string): string {
  const message = late ? 'the request did not arrive in time' : 'the request is not valid HTTP';
  const body = JSON.stringify(errorBody(new ApiError('INVALID_PAYLOAD', message), '', docs_url));
  const head = Object.entries({
    ...notices,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 400 Bad Request\r\n${head.join('')}\r\n${body}`;
}
