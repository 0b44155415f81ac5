// The state of a request in the middleware chain: Koa's `context.state`.
import type { ApiError } from '@bmg/common/errors';
import type { Call } from '@bmg/common/rpc';
import type { Maker } from '../audit/change';
import type { Fields } from '../endpoints/endpoint';
import type { AnswerRoom } from '../limits/answers';
import type { IgnoredKeys } from './ignored';

export interface State extends Maker {
  /** Deadline, trace and request id, passed on to every RPC of the request. */
  call: Call;
  /** Path pattern for the log line, the span and the metric. */
  route: string;
  partner_id?: string;
  /** The partner of the key, also of one that may not be used from the caller's address. */
  key_partner_id?: string;
  /** What the audit log calls the request, unless that is its method and route. */
  action?: string;
  /** The trace ID in the caller's `traceparent`. */
  caller_trace_id: string | undefined;
  /** The keys of the query and body that the endpoint ignores; absent if there are none. */
  ignored?: IgnoredKeys;
  /** The body, for the request log; absent until it was read. */
  given?: Fields | undefined;
  /** The answer, for the request log, before it became text; absent for a file. */
  answer?: object | undefined;
  /** Set once the request has failed. */
  error?: ApiError | undefined;
  /** Gives back the request's places in pools, which it holds until its answer is sent. */
  held?: Array<() => void>;
  /** Where the bytes of the answer count. */
  answer_room?: AnswerRoom | undefined;
}
