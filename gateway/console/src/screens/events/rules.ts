// What the screens say of an event: its contact and message, its deliveries and their attempts, and
// the test events, which the log does not have. Pure.
import type { Attempt, FailedEvent, LoggedEvent, TestEvent } from '../../api/types';

/** Fields of `data` that name the other side, by event. */
const CONTACTS = ['from', 'recipient', 'to', 'user_id', 'phone_number'] as const;
const MESSAGES = ['message_id', 'id'] as const;

const firstText = (data: Record<string, unknown>, names: readonly string[]): string | null =>
  (names.map((name) => data[name]).find((value) => typeof value === 'string' && value !== '') as
    string | undefined) ?? null;

/** `envelope`: an event as it is posted to a webhook URL. A contact is a number or a BSUID. */
export function subjectOf(envelope: Record<string, unknown>) {
  const data = (envelope['data'] ?? {}) as Record<string, unknown>;
  return { contact: firstText(data, CONTACTS), message_id: firstText(data, MESSAGES) };
}

/** A delivery that waits: to an endpoint, or to the webhook address. */
export type Waiting = Pick<FailedEvent, 'event_id' | 'endpoint_id'>;

/** Names a delivery: the same event may wait for several receivers. */
export const deliveryOf = ({ event_id, endpoint_id }: Waiting): string =>
  endpoint_id ? `${event_id}/${endpoint_id}` : event_id;

const SUCCESS_END = 300;

/** A destination that stored the event has neither a status nor an error. */
export const isAccepted = ({ http_status, error }: Pick<Attempt, 'http_status' | 'error'>) =>
  error === null && (http_status === null || http_status < SUCCESS_END);

/** `HTTP 503`, `timeout` or, of a destination, `stored`. */
export const answerOf = ({ http_status, error }: Pick<Attempt, 'http_status' | 'error'>): string =>
  error ?? (http_status === null ? 'stored' : `HTTP ${http_status}`);

/** How the delivery to an endpoint stands, of which the log has the attempts only. */
export function stateOf(attempts: readonly Attempt[]): string | null {
  const last = attempts.at(-1);
  return last ? (isAccepted(last) ? 'delivered' : 'failed') : null;
}

export const TEST_EVENT = 'webhook.test';

/** A test event that this page has sent. */
export interface SentTest extends TestEvent {
  /** When its outcome was known. */
  at: string;
}

/** What the live list shows of an event. */
export type ListedEvent = Pick<LoggedEvent, 'event_id' | 'event' | 'logged_at'> & {
  delivery: Pick<LoggedEvent['delivery'], 'status'>;
  envelope: Pick<LoggedEvent['envelope'], 'phone_number_id' | 'data'>;
};

const rowOf = ({ event_id, delivered, at }: SentTest): ListedEvent => ({
  event_id,
  event: TEST_EVENT,
  logged_at: at,
  delivery: { status: delivered ? 'delivered' : 'failed' },
  envelope: { phone_number_id: null, data: {} },
});

/** Both lists are newest first, and so is the result. */
export function withTests(
  events: readonly ListedEvent[],
  tests: readonly SentTest[],
): ListedEvent[] {
  const rows = tests.map(rowOf);
  const merged = events.flatMap((event) => {
    const later = rows.findIndex(({ logged_at }) => logged_at < event.logged_at);
    return [...rows.splice(0, later < 0 ? rows.length : later), event];
  });
  return [...merged, ...rows];
}

/** `HTTP 503 after 12 ms.` and why it was not accepted. */
export const outcomeOf = ({ http_status, delivered, duration_ms, error }: TestEvent): string =>
  [
    http_status !== null ? `HTTP ${http_status}` : delivered ? 'Stored' : 'No answer',
    `after ${Math.round(duration_ms)} ms.`,
    error,
  ]
    .filter(Boolean)
    .join(' ');
