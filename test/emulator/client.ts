// A typed client of the control interface, for tests. It uses HTTP, so it drives an emulator in
// this process and a separate one in the same way.
import { request } from 'undici';
import type { Behaviour, FailRule } from './behaviour';
import type { FaultInput } from './faults';
import type { InboundInput } from './inbound';
import type { Journal, showMessage, showRequest } from './journal';
import type { SignatureKind } from './signature';
import type { JsonObject } from './types';
import type { Webhooks } from './webhooks';

const WAIT_STEP_MS = 20;
const WAIT_DEFAULT_MS = 10_000;

export type LoggedRequest = ReturnType<typeof showRequest>;
export type LoggedMessage = ReturnType<typeof showMessage>;
export type MessageSummary = ReturnType<Journal['summary']>;
export type WebhookCounts = ReturnType<Webhooks['describe']>;

export interface InboundResult {
  message_id: string;
  delivered: boolean;
  http_status: number | null;
  reason?: 'not_subscribed' | 'blocked';
  error?: string;
}

export interface CreatedAccount {
  waba_id: string;
  business_id: string;
  phone_number_ids: string[];
  tokens: string[];
}

export interface AccountInput {
  id?: string;
  business_id?: string;
  name?: string;
  subscribed?: boolean;
  templates?: 'seeded' | 'none';
  numbers?: JsonObject[];
  tokens?: TokenInput[];
  [field: string]: unknown;
}

export interface TokenInput {
  token?: string;
  waba_ids?: string[] | 'all';
  scopes?: Array<'whatsapp_business_management' | 'whatsapp_business_messaging'>;
  lists_targets?: boolean;
  expires_in_s?: number;
  invalid?: boolean | { subcode?: number; message?: string };
  [field: string]: unknown;
}

export interface BehaviourInput extends Partial<
  Omit<Behaviour, 'fail_status' | 'statuses' | 'delays_ms' | 'template_review' | 'sync'>
> {
  fail_status?: FailRule | FailRule[] | null;
  statuses?: Partial<Behaviour['statuses']>;
  delays_ms?: Partial<Behaviour['delays_ms']>;
  template_review?: Partial<Behaviour['template_review']>;
  sync?: Partial<Behaviour['sync']>;
}

export interface LimitsInput {
  phone_number_id?: string;
  rate_per_sec?: number | 'default' | 'off';
  pair_limit?: boolean | { interval_ms?: number; burst?: number };
  window_check?: boolean | 'off' | 'refuse' | 'fail_later';
  media_url_ttl_ms?: number;
  max_code_requests?: number;
}

export interface WebhookInput {
  body?: unknown;
  raw?: string;
  signature?: SignatureKind;
  times?: number;
  concurrency?: number;
  headers?: Record<string, string>;
  url?: string;
}

type Query = Record<string, string | number | undefined>;

export class EmulatorClient {
  constructor(readonly url: string) {}

  /** Restores the seed. Each `world` has its own account, number and template IDs. */
  reset(world = 0): Promise<JsonObject> {
    return this.call('POST', 'reset', { world });
  }

  state(): Promise<any> {
    return this.call('GET', 'state');
  }

  configure(change: {
    webhook_url?: string;
    verify_token?: string;
    app_secret?: string;
    public_url?: string;
    config_id?: string;
  }): Promise<JsonObject> {
    return this.call('POST', 'config', change);
  }

  createAccount(input: AccountInput = {}): Promise<CreatedAccount> {
    return this.call('POST', 'accounts', input);
  }

  patchAccount(waba_id: string, change: JsonObject): Promise<JsonObject> {
    return this.call('PATCH', `accounts/${waba_id}`, change);
  }

  createNumber(input: { waba_id: string; [field: string]: unknown }): Promise<JsonObject> {
    return this.call('POST', 'numbers', input);
  }

  number(phone_number_id: string): Promise<any> {
    return this.call('GET', `numbers/${phone_number_id}`);
  }

  patchNumber(phone_number_id: string, change: JsonObject): Promise<JsonObject> {
    return this.call('PATCH', `numbers/${phone_number_id}`, change);
  }

  /** Creates a token, or changes the existing one. */
  token(input: TokenInput = {}): Promise<{ token: string } & JsonObject> {
    return this.call('POST', 'tokens', input);
  }

  code(
    input: {
      token?: string;
      code?: string;
      expires_in_ms?: number;
      expired?: boolean;
      used?: boolean;
    } = {},
  ): Promise<{ code: string; expires_at: string }> {
    return this.call('POST', 'codes', input);
  }

  /** Creates a template, or changes an existing one and announces the change by webhook. */
  template(input: {
    waba_id: string;
    name: string;
    language?: string;
    category?: string;
    status?: string;
    reason?: string;
    quality_score?: string;
    parameter_format?: 'POSITIONAL' | 'NAMED';
    components?: JsonObject[];
    pacing?: 'none' | 'release' | 'drop';
  }): Promise<{ id: string; status: string } & JsonObject> {
    return this.call('POST', 'templates', input);
  }

  group(input: {
    phone_number_id: string;
    subject?: string;
    participants?: Array<{ wa_id?: string; user_id?: string }>;
    [field: string]: unknown;
  }): Promise<{ id: string } & JsonObject> {
    return this.call('POST', 'groups', input);
  }

  joinGroup(input: { group_id: string; wa_id?: string; user_id?: string }): Promise<JsonObject> {
    return this.call('POST', 'groups/join', input);
  }

  customer(input: {
    waba_id: string;
    wa_id?: string;
    user_id?: string;
    parent_user_id?: string;
    name?: string;
    username?: string;
    call_permission?: boolean;
  }): Promise<JsonObject> {
    return this.call('POST', 'customers', input);
  }

  media(input: {
    phone_number_id: string;
    mime_type?: string;
    base64?: string;
    size_bytes?: number;
    filename?: string;
  }): Promise<{ id: string; sha256: string; size_bytes: number; url: string }> {
    return this.call('POST', 'media', input);
  }

  inbound(input: InboundInput): Promise<InboundResult> {
    return this.call('POST', 'inbound', input);
  }

  inboundCall(input: {
    phone_number_id: string;
    from?: string;
    sdp?: string;
  }): Promise<{ call_id: string; delivered: boolean; http_status: number | null }> {
    return this.call('POST', 'calls', input);
  }

  /** The customer takes a call of the business. */
  takeCall(input: { call_id: string; sdp?: string }): Promise<{ taken: boolean }> {
    return this.call('POST', 'calls/take', input);
  }

  postWebhook(
    input: WebhookInput,
  ): Promise<{ statuses: Array<number | null>; acknowledged: number }> {
    return this.call('POST', 'webhooks', input);
  }

  webhooks(): Promise<WebhookCounts> {
    return this.call('GET', 'webhooks');
  }

  /** Ends `hold` and posts what was held. */
  releaseWebhooks(): Promise<WebhookCounts> {
    return this.call('POST', 'webhooks/release');
  }

  verifyWebhook(
    input: { url?: string; verify_token?: string; mode?: string } = {},
  ): Promise<{ verified: boolean; http_status: number | null; body?: string; challenge: string }> {
    return this.call('POST', 'webhooks/verify', input);
  }

  behaviour(change: BehaviourInput): Promise<JsonObject> {
    return this.call('POST', 'webhook-behaviour', change);
  }

  limits(change: LimitsInput): Promise<JsonObject> {
    return this.call('POST', 'limits', change);
  }

  fault(input: FaultInput): Promise<{ id: number; remaining: number; triggered: number }> {
    return this.call('POST', 'faults', input);
  }

  async faults(): Promise<Array<{ id: number; remaining: number; triggered: number }>> {
    const { faults } = await this.call<{ faults: never[] }>('GET', 'faults');
    return faults;
  }

  clearFaults(id?: number): Promise<JsonObject> {
    return this.call('DELETE', 'faults', undefined, { id });
  }

  async requests(
    filter: { since?: number | string; path?: string; method?: string; limit?: number } = {},
  ): Promise<LoggedRequest[]> {
    const answer = await this.call<{ requests: LoggedRequest[] }>(
      'GET',
      'requests',
      undefined,
      filter,
    );
    return answer.requests;
  }

  clearRequests(): Promise<JsonObject> {
    return this.call('DELETE', 'requests');
  }

  async messages(
    filter: {
      phone_number_id?: string;
      to?: string;
      since?: number | string;
      limit?: number;
    } = {},
  ): Promise<LoggedMessage[]> {
    const answer = await this.call<{ messages: LoggedMessage[] }>(
      'GET',
      'messages',
      undefined,
      filter,
    );
    return answer.messages;
  }

  summary(): Promise<MessageSummary> {
    return this.call('GET', 'messages/summary');
  }

  clearMessages(): Promise<JsonObject> {
    return this.call('DELETE', 'messages');
  }

  /** Waits until no webhook is planned, waiting or in flight; false after the timeout. */
  async settled(timeout_ms = WAIT_DEFAULT_MS): Promise<boolean> {
    const until = Date.now() + timeout_ms;
    while (Date.now() < until) {
      const { in_flight, planned, waiting, retrying } = await this.webhooks();
      if (in_flight + planned + waiting + retrying === 0) return true;
      await new Promise((resolve) => setTimeout(resolve, WAIT_STEP_MS));
    }
    return false;
  }

  private async call<T>(method: string, path: string, body?: unknown, query?: Query): Promise<T> {
    const target = new URL(`${this.url}/control/${path}`);
    for (const [name, value] of Object.entries(query ?? {})) {
      if (value !== undefined) target.searchParams.set(name, String(value));
    }
    const response = await request(target, {
      method: method as 'GET',
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.body.text();
    if (response.statusCode >= 300) {
      throw new Error(`${method} /control/${path} answered ${response.statusCode}: ${text}`);
    }
    return JSON.parse(text) as T;
  }
}
