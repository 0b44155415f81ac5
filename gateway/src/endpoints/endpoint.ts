// One endpoint is one row: routing, scope, counting, usage name, schemas, status and the OpenAPI document
// all come from it. When a row wants an eleventh option, write a function.
import type { ErrorCode } from '@bmg/common/errors';
import type { Definition } from '@bmg/common/rpc';
import type { Schema } from './parts/schema';

export type Fields = Record<string, unknown>;

/** Who is asking, with what. */
export interface Input {
  partner_id: string;
  params: Record<string, string>;
  query: Fields;
  body: Fields;
  /** Of rows with scope `number`: the number that is meant. */
  target: Target | undefined;
  /** `x-waba-id` where a row's scope is `filter`. */
  waba_id: string | undefined;
  /** Of rows with scope `session`: the connect session whose token was sent in place of a key. */
  session_id?: string | undefined;
}

export interface Target {
  partner_id: string;
  waba_id: string;
  phone_number_id: string;
  directory_version: string;
}

/**
 * number: acts on a client number, x-waba-id is required. filter: x-waba-id, if sent, narrows down.
 * partner: the partner alone. session: the partner, or a connect token in place of the key. none: no
 * authentication at all.
 */
export type Scope = 'number' | 'filter' | 'partner' | 'session' | 'none';

export interface Options {
  scope: Scope;
  /** False for the rows that are logged in the usage record but not counted by the rate limit. */
  counted?: boolean;
  /** The name in the usage record; the path unless given. */
  usage?: string;
  /** 200 unless given, or made of the reply (201 for what was created). */
  status?: number | ((reply: any) => number); // any: each row knows its own reply
  query?: Schema;
  body?: Schema;
  /** Body limit in bytes; 1 MiB unless given. */
  body_limit_bytes?: number;
  /** The message of the call; by default params, query and body with the target or the partner. */
  request?: (input: Input) => Fields;
  /** The answer beside `success: true`; by default the reply itself. */
  reply?: (reply: any, input: Input) => Fields; // any: as above
  /** A server-streaming call that is piped to the answer. */
  stream?: boolean;
  /** Takes an Idempotency-Key. */
  idempotent?: boolean;
  /** Longer than REQUEST_TIMEOUT_MS for what fetches or uploads files. */
  timeout_ms?: number;
  /** For the documents: one sentence. */
  summary?: string;
  /** For the documents: what the schemas do not say. */
  docs?: RowDocs;
}

/** What the documents say of a row, and what the tests over the whole table check it by. */
export interface RowDocs {
  /** The body of a success beside `success: true`; a row without one answers a file. */
  answer?: Schema;
  /** A body as one would send it. */
  example?: Fields;
  /** The name in the OpenAPI document; the method's unless given, since two rows may share one. */
  operation?: string;
  /** Codes of this row beside those that its scope and schemas bring along. */
  codes?: readonly ErrorCode[];
  /** What a caller should know beyond the summary; whole sentences. */
  notes?: string;
}

export interface Rpc {
  definition: Definition;
  method: string;
}

export interface Endpoint extends Options {
  verb: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  rpc: Rpc;
}

/** Names a method of a service; the compiler knows which there are. */
export const rpc = <D extends Definition, M extends string & keyof D['methods']>(
  definition: D,
  method: M,
): Rpc => ({ definition, method });

const row =
  (verb: Endpoint['verb']) =>
  (path: string, rpc: Rpc, options: Options): Endpoint => ({ verb, path, rpc, ...options });

export const get = row('GET');
export const post = row('POST');
export const put = row('PUT');
export const del = row('DELETE');

/** The name under which the usage record keeps an endpoint: its path with `{names}` for parameters. */
export const usageName = (endpoint: Endpoint): string =>
  endpoint.usage ?? endpoint.path.replace(/:(\w+)/g, '{$1}');
