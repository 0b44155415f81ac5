// Defines the rows of the endpoint table. One endpoint is one row: its route, scope, rate limiting,
// usage name, schemas, status and reference page all come from it.
import type { ErrorCode } from '@bmg/common/errors';
import type { KeyScope } from '@bmg/common/keys';
import type { Definition, Method, ResponseOf } from '@bmg/common/rpc';
import type { Fitting, ParamsOf } from './fit';
import type { Schema, Static } from './parts/schema';

export type Fields = Record<string, unknown>;

/**
 * An authenticated and validated request. A row's own functions get it with the types of the row.
 */
export interface Input<
  Params = Record<string, string>,
  Query = Fields,
  Body = Fields,
  OfScope = Target | undefined,
> {
  partner_id: string;
  params: Params;
  query: Query;
  body: Body;
  /** Scope `number`: the number that the request acts on. */
  target: OfScope;
  /** The public address of the API, for links in answers. */
  base_url: string;
  /** Scope `filter`: `x-waba-id`, if sent. */
  waba_id: string | undefined;
  /** Scope `session`: the connect session, if its token was sent instead of a partner key. */
  session_id?: string | undefined;
  /** The API key of the request; absent for the partner key and the console. */
  key_id?: string | undefined;
  /** The person whose console session the request has. */
  person_id?: string | undefined;
  /** The partner's setting: broadcasts to more contacts wait for approval. */
  approval_above?: number | undefined;
}

export interface Target {
  partner_id: string;
  waba_id: string;
  phone_number_id: string;
  directory_version: string;
}

/**
 * The party a request acts for. number: a client number; `x-waba-id` is required. filter: the
 * partner; `x-waba-id`, if sent, filters. partner: the partner. session: the partner, or a connect
 * token instead of the key. none: no authentication.
 */
export type Scope = 'number' | 'filter' | 'partner' | 'session' | 'none';

/** Who may call a row, and what the audit log keeps of the call. */
interface RowAccess {
  scope: Scope;
  /** What an API key needs to call it. Defaults to `read` for a GET, and to `manage` for others. */
  key_scope?: KeyScope;
  /**
   * The request hands events to an address, always or with some bodies: a key needs the scope
   * `read` too.
   */
  hands_events?: true | ((body: Fields) => boolean);
  /** True: only a person who is signed in to the console may call it, and no key. */
  person_only?: true;
  /** True: a console session may call it only shortly after its log-in. Keys are not concerned. */
  fresh_log_in?: true;
  /**
   * What the audit log keeps of a change, beside the IDs in its path and the names of its fields.
   */
  audit?: RowAudit;
}

/** What a call may cost, and what it counts as. */
interface RowLimits {
  /** False: in the usage record, but not counted by the rate limit. */
  counted?: boolean;
  /** Name in the usage record. Defaults to the path. */
  usage?: string;
  /** Maximum size of the body. Defaults to 1 MiB. */
  body_limit_bytes?: number;
  /** Maximum number of values in the body. Defaults to 10,000. */
  body_nodes_max?: number;
  /** Throws if a list of that many items is the reason why a body has too many values. */
  checkItems?: (items: number) => void;
  /**
   * A read of a log (whole events, rows of the ledger) or of a list: it counts in the partner's
   * pool and byte rate of reads.
   */
  reads?: 'log' | 'list';
  /**
   * The bytes reserved for the answer before the call. Defaults to an estimate by the kind of read.
   */
  answer_bytes?: (query: Fields) => number;
  /** Timeout of the call. Defaults to REQUEST_TIMEOUT_MS. */
  timeout_ms?: number;
}

/** How a request becomes a gRPC call, and its reply an answer. */
interface RowCall {
  query?: Schema;
  body?: Schema;
  /**
   * Builds the gRPC request. Defaults to query, body and path parameters, with `target` or
   * `partner_id`.
   */
  request?: (input: Input) => object | Promise<object>;
  /** Fields of the gRPC request that the row leaves out. The compiler requires all others. */
  omits?: readonly string[];
  /** Builds the response beside `success: true`. Defaults to the gRPC reply. */
  reply?: (reply: object, input: Input) => object;
  /** Defaults to 200. A function of the reply if the endpoint creates or updates. */
  status?: number | ((reply: object) => number);
  /** True: a server-streaming call whose bytes are piped to the response. */
  stream?: boolean;
  /**
   * A server-streaming call that answers instead if `Accept` prefers text/csv. Its request takes no
   * paging.
   */
  csv?: Rpc;
  /** True: accepts an `Idempotency-Key`. */
  idempotent?: boolean;
  /** Another call for some bodies, with limits of its own. */
  variant?: Variant;
}

/** The reference page of a row; the tests that cover the whole table check it. */
interface RowDocs {
  /** Title in the reference: an imperative phrase without a full stop. */
  summary?: string;
  /** True: not one of the contract's 68 endpoints; the reference marks it as an addition. */
  addition?: boolean;
  /** Body of a success beside `success: true`. Absent for a row that streams a file. */
  answer?: Schema;
  /** A complete request body. */
  example?: Fields;
  /** Path parameters by name: description and example. */
  params?: Record<string, Schema>;
  /**
   * `operationId` in the OpenAPI document. Defaults to the RPC's name, which two rows may share.
   */
  operation?: string;
  /** Error codes beyond those that the scope and the schemas imply. */
  codes?: readonly ErrorCode[];
  /** What a caller needs to know beyond the summary, in whole sentences. */
  notes?: string;
}

/** What a row says in four groups. */
export interface Options extends RowAccess, RowLimits, RowCall, RowDocs {}

/** The options of a variant that differ from its row, for the bodies that it takes. */
export interface Variant extends Pick<
  Options,
  'body_limit_bytes' | 'body_nodes_max' | 'checkItems' | 'request' | 'reply'
> {
  takes: (body: Fields) => boolean;
  rpc: Rpc;
}

/** An allow-list: the audit log keeps no value that is not named here. */
export interface RowAudit {
  /**
   * Fields of the body whose values are kept. Never secrets, contents of messages or recipients.
   */
  values?: readonly string[];
  /**
   * IDs by name, with their path in the body (`waba_id`) or in the RPC's reply (`client.waba_id`).
   */
  ids?: Readonly<Record<string, string>>;
  /**
   * Whose values before the change are kept: of the API key or person in the path, or of the
   * partner.
   */
  before_of?: 'key' | 'partner' | 'person';
  /**
   * Fields of which the values before the change are kept. Defaults to those in `values` that are
   * given.
   */
  before?: readonly string[];
  /**
   * The change is never refused because a quota of changes is used up: it takes a right away, or
   * stops something. `if_narrower`: if the values after it allow nothing that those before did not.
   */
  reduces_risk?: true | 'if_narrower' | ((body: Fields) => boolean);
}

export interface Rpc<M extends Method = Method> {
  definition: Definition;
  method: string;
  /** The codecs of its messages. */
  codecs: M;
}

export interface Endpoint extends Options {
  verb: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  rpc: Rpc;
}

/** Refers to a method of a service; the compiler checks that it exists. */
export const rpc = <D extends Definition, N extends string & keyof D['methods']>(
  definition: D,
  method: N,
): Rpc<D['methods'][N]> => ({
  definition,
  method,
  codecs: definition.methods[method] as D['methods'][N],
});

type NoFields = { type: 'object'; properties: Record<never, never> };

type InputOf<Path extends string, S, Q extends Schema, B extends Schema> = Input<
  ParamsOf<Path>,
  Static<Q>,
  Static<B>,
  S extends 'number' ? Target : undefined
>;

/** The fields that the default `request` sends. */
type DefaultFields<Path extends string, S, Q extends Schema, B extends Schema> = Static<Q> &
  Static<B> &
  ParamsOf<Path> &
  (S extends 'number'
    ? { target: Target }
    : { partner_id: string } & (S extends 'filter' ? { waba_id?: string } : unknown));

/** The options of a row, with the types of its schemas and of its RPC. */
interface RowOptions<
  Path extends string,
  M extends Method,
  S extends Scope,
  Q extends Schema,
  B extends Schema,
  F extends object,
  X extends string,
> extends Omit<
  Options,
  'scope' | 'query' | 'body' | 'request' | 'omits' | 'reply' | 'status' | 'csv' | 'answer_bytes'
> {
  scope: S;
  query?: Q;
  body?: B;
  omits?: readonly X[];
  csv?: Rpc<Method & { responseStream: true }>;
  answer_bytes?: (query: Static<Q>) => number;
  status?: number | ((reply: ResponseOf<M>) => number);
  request?: (input: InputOf<Path, S, Q, B>) => F | Promise<F>;
  reply?: (reply: ResponseOf<M>, input: InputOf<Path, S, Q, B>) => object;
}

const row =
  (verb: Endpoint['verb']) =>
  <
    const Path extends string,
    M extends Method,
    const S extends Scope,
    Q extends Schema = NoFields,
    B extends Schema = NoFields,
    F extends object = DefaultFields<Path, S, Q, B>,
    const X extends string = never,
  >(
    path: Path,
    rpc: Rpc<M>,
    options: RowOptions<Path, M, S, Q, B, F, X>,
  ): Fitting<Endpoint, F, M, X> =>
    // The chain treats all rows alike: from here on, their types are those of any row. The cast
    // widens the parameters of the row's functions, which the compiler cannot allow.
    ({ verb, path, rpc, ...options }) as unknown as Fitting<Endpoint, F, M, X>;

/** The variant of a row, with the types of its own RPC. */
export const variant = <M extends Method, F extends object>(
  rpc: Rpc<M>,
  options: Omit<Variant, 'rpc' | 'request' | 'reply'> & {
    request: (input: Pick<Input, 'body' | 'approval_above'> & { target: Target }) => F | Promise<F>;
    reply: (reply: ResponseOf<M>, input: Input) => object;
  },
): Fitting<Variant, F, M, never> =>
  // The cast widens the parameters of the variant's functions, as in `row`.
  ({ rpc, ...options }) as unknown as Fitting<Variant, F, M, never>;

export const get = row('GET');
export const post = row('POST');
export const put = row('PUT');
export const patch = row('PATCH');
export const del = row('DELETE');

/** `/qr-codes/:code` → `/qr-codes/{code}`. */
export const documentPath = ({ path }: Pick<Endpoint, 'path'>): string =>
  path.replace(/:(\w+)/g, '{$1}');

/** The names of the parameters in the path. */
export const pathParametersOf = ({ path }: Pick<Endpoint, 'path'>): string[] =>
  [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);

/** Name of an endpoint in the usage record. */
export const usageName = (endpoint: Endpoint): string => endpoint.usage ?? documentPath(endpoint);

/** The scope that an API key needs for an endpoint. */
export const keyScopeOf = ({ verb, key_scope }: Pick<Endpoint, 'verb' | 'key_scope'>): KeyScope =>
  key_scope ?? (verb === 'GET' ? 'read' : 'manage');
