// The parts of a running emulator and the request that a handler processes.
import type { IncomingMessage } from 'node:http';
import type { BehaviourHolder } from './behaviour';
import type { EmulatorConfig } from './config';
import type { Faults } from './faults';
import type { Ids } from './ids';
import type { Journal, RequestEntry } from './journal';
import type { Limits } from './limits';
import type { MediaStore } from './media-store';
import type { State } from './state';
import type { StateFile } from './state-file';
import type { Account, BusinessNumber, JsonObject, Scope, Token } from './types';
import type { Webhooks } from './webhooks';

export interface Core {
  readonly config: EmulatorConfig;
  state: State;
  /** Null: the world ends with the process. */
  readonly stateFile: StateFile | null;
  readonly ids: Ids;
  readonly journal: Journal;
  readonly faults: Faults;
  readonly limits: Limits;
  readonly behaviour: BehaviourHolder;
  readonly webhooks: Webhooks;
  readonly media: MediaStore;
}

export interface Call {
  readonly core: Core;
  readonly state: State;
  readonly method: string;
  /** Decoded path segments after the version. */
  readonly segments: readonly string[];
  readonly query: URLSearchParams;
  /** URL of this request without its query, as the platform writes it in `next`. */
  readonly url: string;
  readonly request: IncomingMessage;
  /** The raw body; empty for streamed bodies. */
  readonly raw: string;
  readonly body: JsonObject;
  readonly token: Token;
  /** This request in the journal; handlers of streamed bodies add the body they read. */
  readonly entry: RequestEntry;
}

/** An answer other than JSON with status 200. */
export class Reply {
  constructor(
    readonly status: number,
    readonly body: NodeJS.ReadableStream | Buffer | string,
    readonly headers: Record<string, string>,
  ) {}
}

export type Handler = (call: Call) => JsonObject | Reply | Promise<JsonObject | Reply>;

export interface Route {
  method: string;
  /**
   * `/:number/messages`: the first segment is a node type or a literal; `*` matches any later one.
   */
  pattern: string;
  scope: Scope | null;
  handler: Handler;
  /** The handler reads the body itself, as a stream. */
  body?: 'json' | 'stream';
}

/** The routes of a table with rows `METHOD /pattern`; `body` is as in a route. */
export const routesOf = (
  scope: Scope | null,
  handlers: Readonly<Record<string, Handler>>,
  body: 'json' | 'stream' = 'json',
): readonly Route[] =>
  Object.entries(handlers).map(([row, handler]) => {
    const [method = '', pattern = ''] = row.split(' ');
    return { method, pattern, scope, handler, body };
  });

export function numberOf(call: Call): BusinessNumber {
  return call.state.numbers.get(call.segments[0] as string) as BusinessNumber;
}

export function accountOf(call: Call): Account {
  return call.state.accounts.get(call.segments[0] as string) as Account;
}
