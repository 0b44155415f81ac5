// A typed client of the gateway: one method for each HTTP verb, with the paths, bodies and answers
// of the OpenAPI document (`schema.ts` is generated), and the retries that its error answers allow.
import createFetchClient, { type Client as Calls } from 'openapi-fetch';
import { readEvents, type EventsOptions, type LoggedEvent } from './events';
import { readPages, type ItemOf, type ListOptions, type Lists } from './pages';
import { createRetryingFetch } from './retries';
import type { paths } from './schema';

export {
  verifyServiceSignature,
  verifyWebhook,
  type Envelope,
  type WebhookRequest,
} from './webhook';
export type { ErrorDetails } from './details';
export type { ErrorBody, GatewayError } from './errors';
export type { EventsOptions, LoggedEvent } from './events';
export type { ItemOf, ListOptions, Lists } from './pages';
export type { components, paths } from './schema';

export interface ClientOptions {
  /** Ends with `/v1`, for example `https://gateway.example.com/v1`. */
  base_url: string;
  /** A full credential: keep it on your server. */
  partner_key: string;
  /** Attempts of a request that may be repeated. Defaults to 4; 1 switches retries off. */
  attempts_max?: number;
  /** Defaults to the runtime's own. */
  fetch?: (request: Request) => Promise<Response>;
}

export interface Client extends Calls<paths, 'application/json'> {
  /**
   * The events of the log, from `after` on, one by one. It waits for new ones, and for a gateway
   * that cannot be reached, until `signal` aborts.
   */
  events(options?: EventsOptions): AsyncGenerator<LoggedEvent, void>;
  /** The items of a list, from its first page to its last. */
  list<P extends keyof Lists>(path: P, ...options: ListOptions<P>): AsyncGenerator<ItemOf<P>, void>;
}

export function createClient(options: ClientOptions): Client {
  const { base_url, partner_key, attempts_max = 4, fetch = globalThis.fetch } = options;
  const calls = createFetchClient<paths, 'application/json'>({
    baseUrl: base_url,
    headers: { 'x-partner-key': partner_key },
    fetch: createRetryingFetch({ fetch, base_url, attempts_max }),
  });
  return {
    ...calls,
    events: (given = {}) => readEvents(calls, given),
    list: (path, ...[given]) => readPages(calls, path, given),
  };
}
