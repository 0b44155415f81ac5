// What the middleware line knows about a request: Koa's `context.state`.
import type { ApiError } from '@bmg/common/errors';
import type { Call } from '@bmg/common/rpc';

export interface State {
  /** Deadline, trace and request id, passed on to every RPC of the request. */
  call: Call;
  /** Path pattern for the log line, the span and the metric. */
  route: string;
  partner_id?: string;
  /** Of the caller's `traceparent`. */
  caller_trace_id: string | undefined;
  /** Set once the request has failed. */
  error?: ApiError | undefined;
}
