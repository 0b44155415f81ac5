// Finds what needs a person's attention, for the overview. Pure functions of the loaded data.
import type { Billing, Client, Person, RaisedAlert, Settings, WebhookEndpoint } from './api/types';

export interface Attention {
  id: string;
  title: string;
  text: string;
  severe: boolean;
  /** The screen on which a person resolves it. */
  to:
    | '/numbers'
    | '/events/failed'
    | '/messages'
    | '/problems'
    | '/settings/billing'
    | '/settings/people'
    | '/settings/receivers/webhook'
    | '/usage/ledger';
  search?: Record<string, string>;
  action: string;
}

export interface Known {
  settings: Settings | undefined;
  clients: Client[] | undefined;
  billing: Billing | undefined;
  failed_events: number | undefined;
  /** Known to those who may manage. */
  people: Person[] | undefined;
}

export const nameOf = ({ display_name, phone_number }: Client): string =>
  display_name || `+${phone_number}`;

/** The host of a URL, or the topic, exchange, queue or bucket of a destination. */
export function receiverOf({
  url,
  destination,
}: Pick<WebhookEndpoint, 'url' | 'destination'>): string {
  if (url !== null) return new URL(url).host;
  const { type, topic, exchange, routing_key, queue_url, bucket } = destination ?? {};
  return `${type}: ${topic ?? queue_url ?? bucket ?? (exchange || routing_key)}`;
}

export const attentionOf = (known: Known, now = Date.now()): Attention[] => [
  ...ofWebhook(known),
  ...ofAlerts(known.settings?.raised_alerts ?? [], now),
  ...ofNumbers(known.clients ?? []),
  ...ofSyncs(known.clients ?? [], now),
  ...ofBilling(known.billing),
  ...ofPasskeys(known.people ?? [], now),
];

function ofWebhook({ settings, failed_events = 0 }: Known): Attention[] {
  const found: Attention[] = [];
  if (settings && settings.webhook_url === null) {
    found.push({
      id: 'no-webhook',
      title: 'No webhook address',
      text: 'Sends work, but you receive no events: no statuses and no inbound messages.',
      severe: true,
      to: '/settings/receivers/webhook',
      action: 'Set the webhook address',
    });
  }
  if (failed_events > 0) {
    found.push({
      id: 'failed-events',
      title: 'Events were not delivered',
      text: `Your receiver did not accept ${failed_events} ${failed_events === 1 ? 'event' : 'events'}.`,
      severe: true,
      to: '/events/failed',
      action: 'See the failed events',
    });
  }
  return found;
}

type Target = Pick<Attention, 'title' | 'to' | 'search' | 'action'>;

const ALERTS: Record<string, Target> = {
  spend_per_day: {
    title: 'Your spend crossed its threshold',
    to: '/usage/ledger',
    action: 'See the ledger',
  },
  failure_rate: {
    title: 'More messages failed than your threshold',
    to: '/messages',
    search: { status: 'failed' },
    action: 'See the failed messages',
  },
  webhook_failures: {
    title: 'More events failed than your threshold',
    to: '/events/failed',
    action: 'See the failed events',
  },
  quality_drops: {
    title: 'The quality of a number dropped',
    to: '/numbers',
    action: 'See the numbers',
  },
  unpaid_slots: { title: 'A slot is unpaid', to: '/settings/billing', action: 'See the invoices' },
};
/** Older alerts are history. */
const ALERT_SHOWN_MS = 24 * 3_600_000;

const ofAlerts = (alerts: readonly RaisedAlert[], now: number): Attention[] =>
  alerts.flatMap(({ cause, day, value, threshold, currency, raised_at }) => {
    const target = ALERTS[cause];
    if (!target || now - Date.parse(raised_at) > ALERT_SHOWN_MS) return [];
    return [
      {
        id: `alert-${cause}-${day}`,
        ...target,
        // Causes without a figure are only on or off.
        text:
          threshold === 'true'
            ? `It happened on ${day}.`
            : `${[value, currency].filter(Boolean).join(' ')} on ${day}; your threshold is ${threshold}.`,
        severe: false,
      },
    ];
  });

/** What there is to say of a number, which its panel shows. */
const aboutNumber = (
  topic: string,
  { waba_id, phone_number_id }: Client,
  said: Pick<Attention, 'title' | 'text' | 'severe'>,
): Attention => ({
  id: `${topic}-${phone_number_id}`,
  ...said,
  to: '/numbers',
  search: { open: `${waba_id}/${phone_number_id}` },
  action: 'See the number',
});

const ofNumbers = (clients: Client[]): Attention[] =>
  clients
    .filter(({ status }) => status === 'active')
    .flatMap((client) => {
      const { health, quality_rating } = client;
      if (health === 'paused') {
        return aboutNumber('paused', client, {
          title: `${nameOf(client)} is paused`,
          text: 'The business app has disconnected the number. It usually reconnects within minutes; until then it may not send.',
          severe: true,
        });
      }
      if (quality_rating !== 'RED' && quality_rating !== 'YELLOW') return [];
      const severe = quality_rating === 'RED';
      return aboutNumber('quality', client, {
        title: `The quality of ${nameOf(client)} is ${severe ? 'low' : 'medium'}`,
        text: 'People block or report its messages. The messaging limit may drop.',
        severe,
      });
    });

const HOUR_MS = 3_600_000;
/** If less time is left, a person should find out why the sync is refused. */
const SYNC_URGENT_MS = 6 * HOUR_MS;
/** A sync that was missed longer ago is history. */
const SYNC_MISSED_SHOWN_MS = 7 * 24 * HOUR_MS;

/** The 24-hour clock of each number whose contacts and history are not requested yet. */
const ofSyncs = (clients: Client[], now: number): Attention[] =>
  clients.flatMap((client) => {
    const { data_sync, status } = client;
    if (!data_sync || data_sync.status === 'requested' || status !== 'active') return [];
    const left_ms = Date.parse(data_sync.request_until) - now;
    if (left_ms < -SYNC_MISSED_SHOWN_MS) return [];
    if (data_sync.status === 'expired' || left_ms <= 0) {
      return aboutNumber('sync', client, {
        title: `The data sync of ${nameOf(client)} was missed`,
        text: 'Contacts and history can be requested for 24 hours after the sign-up only. To get them, your client signs up again.',
        severe: true,
      });
    }
    const hours = Math.ceil(left_ms / HOUR_MS);
    return aboutNumber('sync', client, {
      title: `The data sync of ${nameOf(client)} waits: ${hours} ${hours === 1 ? 'hour is' : 'hours are'} left`,
      text: 'The platform has not accepted the request for contacts and history yet. The gateway repeats it until 24 hours after the sign-up.',
      severe: left_ms < SYNC_URGENT_MS,
    });
  });

function ofBilling(billing: Billing | undefined): Attention[] {
  if (!billing || (billing.state === 'active' && billing.waiting_waba_ids.length === 0)) return [];
  const waiting = billing.waiting_waba_ids.length;
  return [
    {
      id: 'billing',
      title: 'A payment is due',
      text:
        waiting > 0
          ? `${waiting} business ${waiting === 1 ? 'account waits' : 'accounts wait'} for a payment and cannot send.`
          : 'An invoice is unpaid.',
      severe: true,
      to: '/settings/billing',
      action: 'See the invoices',
    },
  ];
}

const PASSKEY_SHOWN_MS = 7 * 24 * HOUR_MS;

/** The holder of a new passkey signs in as its person: the others should know of it. */
const ofPasskeys = (people: readonly Person[], now: number): Attention[] =>
  people.flatMap(({ person_id, email, passkey_added_at: at }) =>
    at === null || now - Date.parse(at) > PASSKEY_SHOWN_MS
      ? []
      : {
          id: `passkey-${person_id}`,
          title: `${email} has a new passkey`,
          text: `It was registered on ${at.slice(0, 10)}. If this person did not do it, remove the person and invite again.`,
          severe: false,
          to: '/settings/people',
          action: 'See the people',
        },
  );
