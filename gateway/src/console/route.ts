// One request of the console is one row, served under /dashboard/api.
import type { KeyScope, Peppers } from '@bmg/common/keys';
import type { Call, Client } from '@bmg/common/rpc';
import type { PaymentsDefinition } from '@bmg/proto/billing';
import type { OnboardingDefinition } from '@bmg/proto/onboarding';
import type { PasskeysDefinition } from '@bmg/proto/people';
import type { Session, SettingsDefinition } from '@bmg/proto/settings';
import type { WebhooksDefinition } from '@bmg/proto/webhooks';
import type { Context } from 'koa';
import type { Recorder } from '../audit/recorder';
import type { RefusalLog } from '../audit/refusal-log';
import type { HashRenewal } from '../auth/hash-renewal';
import type { AnyScope, Restriction } from '../auth/restriction';
import type { Endpoint, Fields, RowAudit } from '../endpoints/endpoint';
import type { Schema } from '../endpoints/parts/schema';
import type { EventStreams } from './event-streams';
import type { SessionCookies } from './session-cookie';

export interface RouteDependencies {
  settings: Client<SettingsDefinition>;
  passkeys: Client<PasskeysDefinition>;
  webhooks: Client<WebhooksDefinition>;
  payments: Client<PaymentsDefinition>;
  onboarding: Client<OnboardingDefinition>;
  streams: Pick<EventStreams, 'open'>;
  cookies: SessionCookies;
  peppers: Peppers;
  renewal: HashRenewal;
  public_url: string;
  /** The URL of the operator's issuer (OpenID Connect); undefined without one. */
  issuer_url?: string | undefined;
  /** Conversations show the texts that customers wrote. */
  shows_texts: boolean;
  /** Records changes. */
  recorder: Recorder;
  /** Records failed log-ins. */
  refused: Pick<RefusalLog, 'note'>;
  /** The endpoints, whose calls the request log has. */
  endpoints: ReadonlyArray<Pick<Endpoint, 'verb' | 'path'>>;
  /** Announcements to partners, with their texts. */
  notices: Fields[];
}

/** The partner behind a valid session. */
export interface Visitor {
  partner_id: string;
  /** What the person who signed in may do; absent for the partner key, which may do everything. */
  restriction?: Restriction | undefined;
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

interface Row extends AnyScope {
  /**
   * The scope that the role of a person needs. Defaults to `read` for a GET, and to `manage` for
   * others.
   */
  key_scope?: KeyScope;
  /** Below /dashboard/api. */
  path: string;
  verb: 'get' | 'post' | 'patch' | 'delete';
  body?: Schema;
  /** The answer beside `success: true`. */
  answer: Schema;
  /** 200 unless given. */
  status?: number;
  /** Instead of REQUEST_TIMEOUT_MS. */
  timeout_ms?: number;
  /** True: the page makes the request by itself, and the session does not live longer by it. */
  automatic?: boolean;
  /** Returned to a browser without a valid session, instead of 401. */
  absent?: Fields;
  /** True: the browser itself opens the address, and is sent on to another one. */
  redirects?: true;
  /** True: only shortly after the session's log-in. */
  fresh_log_in?: true;
  /** Set for what the audit log records: changes, and the reveal of a secret. */
  audit?: RowAudit;
  /** Requests a second of one partner to this row, in addition to the limit on all rows. */
  per_sec?: number;
}

type Run = (visitor: Visitor, request: RouteRequest) => Promise<object>;
type OpenRun = (request: RouteRequest) => Promise<object>;

/**
 * `run` returns the answer beside `success: true`, in which what is unset may be absent. Only a row
 * with `open: true` needs no session.
 */
export type SessionRoute = Row & { open?: never; run: Run };
export type Route = SessionRoute | (Row & { open: true; run: OpenRun });

type Options = Omit<Row, 'verb' | 'path' | 'answer'>;

const row =
  (verb: Row['verb']) =>
  (path: string, answer: Schema, options: Options, run: Run): Route => ({
    ...{ verb, path, answer, run },
    ...options,
  });
export const get = row('get');
export const post = row('post');
export const patch = row('patch');
export const del = row('delete');

const openRow =
  (verb: Row['verb']) =>
  (path: string, answer: Schema, options: Options, run: OpenRun): Route => ({
    ...{ verb, path, answer, run },
    open: true,
    ...options,
  });
export const openGet = openRow('get');
export const openPost = openRow('post');

/** A value of the path. */
export const paramOf = ({ context }: RouteRequest, name: string): string =>
  (context['params'] as Record<string, string>)[name] ?? '';
