// A typed client of the control interface, for tests. It uses HTTP, so it drives an emulator in
// this process and a separate one in the same way.
import { request } from 'undici';
import type { BEHAVIOUR, LIMITS } from './control-behaviour';
import type { CustomerInput, GroupInput, MediaInput, TemplateInput } from './control-objects';
import type { Input } from './control-parts';
import type { CallInput, WebhookInput } from './control-traffic';
import type { AccountInput, CodeInput, ConfigInput, TokenInput } from './control-world';
import type { FaultInput, showFault } from './faults';
import type { InboundInput } from './inbound';
import type { Journal, showMessage, showRequest } from './journal';
import type { JsonObject } from './types';
import type { Webhooks } from './webhooks';

const WAIT_STEP_MS = 20;
const WAIT_DEFAULT_MS = 10_000;

type LoggedRequest = ReturnType<typeof showRequest>;
type LoggedMessage = ReturnType<typeof showMessage>;
type WebhookCounts = ReturnType<Webhooks['describe']>;

interface Delivered {
  delivered: boolean;
  http_status: number | null;
  reason?: 'not_subscribed' | 'blocked';
  error?: string;
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

  configure(change: ConfigInput): Promise<JsonObject> {
    return this.call('POST', 'config', change);
  }

  createAccount(
    input: AccountInput = {},
  ): Promise<
    Record<'waba_id' | 'business_id', string> & Record<'phone_number_ids' | 'tokens', string[]>
  > {
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

  code(input: CodeInput = {}): Promise<{ code: string; expires_at: string }> {
    return this.call('POST', 'codes', input);
  }

  /** Creates a template, or changes an existing one and announces the change by webhook. */
  template(input: TemplateInput): Promise<{ id: string; status: string } & JsonObject> {
    return this.call('POST', 'templates', input);
  }

  group(input: GroupInput): Promise<{ id: string } & JsonObject> {
    return this.call('POST', 'groups', input);
  }

  customer(input: CustomerInput): Promise<JsonObject> {
    return this.call('POST', 'customers', input);
  }

  media(
    input: MediaInput,
  ): Promise<{ id: string; sha256: string; size_bytes: number; url: string }> {
    return this.call('POST', 'media', input);
  }

  inbound(input: InboundInput): Promise<Delivered & { message_id: string }> {
    return this.call('POST', 'inbound', input);
  }

  inboundCall(input: CallInput): Promise<Delivered & { call_id: string }> {
    return this.call('POST', 'calls', input);
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

  behaviour(
    change: Omit<Input<typeof BEHAVIOUR>, 'fail_status'> & { fail_status?: unknown },
  ): Promise<JsonObject> {
    return this.call('POST', 'webhook-behaviour', change);
  }

  limits(change: Input<typeof LIMITS>): Promise<JsonObject> {
    return this.call('POST', 'limits', change);
  }

  fault(input: FaultInput): Promise<ReturnType<typeof showFault>> {
    return this.call('POST', 'faults', input);
  }

  clearFaults(id?: number): Promise<JsonObject> {
    return this.call('DELETE', 'faults', undefined, { id });
  }

  async requests(
    filter: { since?: number | string; path?: string; method?: string; limit?: number } = {},
  ): Promise<LoggedRequest[]> {
    type Found = { requests: LoggedRequest[] };
    return (await this.call<Found>('GET', 'requests', undefined, filter)).requests;
  }

  clearRequests(): Promise<JsonObject> {
    return this.call('DELETE', 'requests');
  }

  async messages(
    filter: { phone_number_id?: string; to?: string; since?: number | string; limit?: number } = {},
  ): Promise<LoggedMessage[]> {
    type Found = { messages: LoggedMessage[] };
    return (await this.call<Found>('GET', 'messages', undefined, filter)).messages;
  }

  summary(): Promise<ReturnType<Journal['summary']>> {
    return this.call('GET', 'messages/summary');
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
