// The receivers of events as a list shows them: the webhook address and each endpoint. Pure.
import type { LoggedEvent, Settings, WebhookEndpoint } from '../../api/types';
import { receiverOf } from '../../attention';
import { inWords } from '../../event-filter';
import { DAY_MS } from '../../period';
import { deliveredOf, triedOf } from '../events/health';

/** In the address of its page, where an endpoint has its ID. */
export const WEBHOOK = 'webhook';

export interface ReceiverRow {
  id: string;
  name: string;
  /** The host, topic, queue or bucket; null if the name shows it. */
  target: string | null;
  status: string;
  events: string;
  /** Both are of the last 24 hours; null while they are not known. */
  accepted: number | null;
  refused: number | null;
  /** True if there were more, of which only the latest are counted. */
  is_part?: boolean;
  waiting: number | null;
  last_success_at: string | null;
}

export const nameOf = (endpoint: WebhookEndpoint): string =>
  endpoint.description || receiverOf(endpoint);

export const endpointRow = (endpoint: WebhookEndpoint): ReceiverRow => ({
  id: endpoint.endpoint_id,
  name: nameOf(endpoint),
  target: endpoint.description === '' ? null : receiverOf(endpoint),
  status: endpoint.status,
  events: inWords(endpoint.events),
  accepted: endpoint.health.delivered,
  refused: endpoint.health.refused,
  waiting: endpoint.health.retrying,
  last_success_at: endpoint.health.last_success_at,
});

interface WebhookFigures {
  settings: Settings;
  endpoints: readonly WebhookEndpoint[];
  /** The newest first, at most `most`. */
  latest: readonly LoggedEvent[] | undefined;
  most: number;
  /** Deliveries to all receivers that wait. */
  waiting: number | undefined;
}

/** The gateway keeps figures of endpoints only: those of the webhook address are in the log. */
export function webhookRow(figures: WebhookFigures, now = Date.now()): ReceiverRow {
  const { settings, endpoints, latest, most, waiting } = figures;
  const since = new Date(now - DAY_MS).toISOString();
  const day = latest?.filter(({ logged_at }) => logged_at >= since);
  const accepted = day ? deliveredOf(day) : null;
  const of_endpoints = endpoints.reduce((sum, { health }) => sum + health.retrying, 0);
  const extra = settings.extra_events.length;
  return {
    id: WEBHOOK,
    name: 'Webhook address',
    target: settings.webhook_url && new URL(settings.webhook_url).host,
    status: settings.webhook_url === null ? 'no_address' : 'active',
    events: extra > 0 ? `all, ${extra} extra` : 'all',
    accepted,
    refused: day ? triedOf(day).length - (accepted ?? 0) : null,
    is_part: day?.length === most,
    // Both are read apart: a delivery may have ended in between.
    waiting: waiting === undefined ? null : Math.max(0, waiting - of_endpoints),
    last_success_at:
      latest?.find(({ delivery }) => delivery.delivered_at)?.delivery.delivered_at ?? null,
  };
}
