// The HTTP listener of the REST API, as a component that drains and stops.
import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ApiError } from '@bmg/common/errors';
import type { Component } from '@bmg/common/lifecycle';
import { createBoundedServer, type RefusalAnswer, type RefusalReason } from '@bmg/common/overload';
import { errorBody } from '../error-guide/error-body';

interface HttpServerOptions {
  host: string;
  port: number;
  /** Headers of every response. */
  notices: Record<string, string>;
  docs_url: string;
  proxy_hops: number;
}

/** `port` is the port listened on; known once started. */
export function createHttpServer(
  listener: RequestListener,
  { host, port, notices, docs_url, proxy_hops }: HttpServerOptions,
): Component & { port(): number } {
  const server = createBoundedServer(
    { server: 'gateway', proxy_hops, refusal: (reason) => refusal(reason, notices, docs_url) },
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

const REFUSALS: Record<RefusalReason, { status: number; message: string }> = {
  malformed: { status: 400, message: 'the request is not valid HTTP' },
  late: { status: 400, message: 'the request did not arrive in time' },
  no_host: { status: 400, message: 'the request has no Host header, which HTTP 1.1 requires' },
  expectation: { status: 417, message: 'the header Expect has another value than 100-continue' },
};

/** Such requests never reach Koa, so the standard error body is written here. */
function refusal(
  reason: RefusalReason,
  notices: Record<string, string>,
  docs_url: string,
): RefusalAnswer {
  const { status, message } = REFUSALS[reason];
  const request_id = randomUUID();
  const type = 'application/json; charset=utf-8';
  const error = new ApiError('INVALID_PAYLOAD', message);
  return {
    status,
    headers: { ...notices, 'X-Request-Id': request_id, 'Content-Type': type },
    body: JSON.stringify(errorBody(error, request_id, docs_url)),
  };
}
