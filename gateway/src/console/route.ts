// One request of the console is one row, served under /dashboard/api.
import type { Call } from '@bmg/common/rpc';
import type { Session } from '@bmg/proto/settings';
import type { Context } from 'koa';
import type { Fields, RowAudit } from '../endpoints/endpoint';
import type { Schema } from '../endpoints/parts/schema';

/** The partner behind a valid session. */
export interface Visitor {
  partner_id: string;
  token: string;
  /** Under which the session is stored. */
  token_hash: string;
  session: Session;
  /** Throws when the session is over. */
  check(call: Call): Promise<unknown>;
}

export interface RouteRequest {
  context: Context;
  call: Call;
  body: Fields;
}

interface Options {
  /** Below /dashboard/api. */
  path: string;
  verb: 'get' | 'post' | 'patch' | 'delete';
  body?: Schema;
  /** The answer beside `success: true`, for the API's tests. */
  answer: Schema;
  /** 200 unless given. */
  status?: number;
  /** Instead of REQUEST_TIMEOUT_MS. */
  timeout_ms?: number;
  /** True: the page makes the request by itself, and the session does not live longer by it. */
  automatic?: boolean;
  /** Answered to a browser without a valid session, instead of 401. */
  absent?: Fields;
  /** Set for what the audit log records: changes, and the reveal of a secret. */
  audit?: RowAudit;
  /** Requests a second of one partner to this row, in addition to the limit on all rows. */
  per_sec?: number;
}

/** `run` returns the answer beside `success: true`. Only a row with `open: true` needs no session. */
export type Route = Options &
  (
    | { open: true; run(request: RouteRequest): Promise<Fields> }
    | { open?: never; run(visitor: Visitor, request: RouteRequest): Promise<Fields> }
  );
