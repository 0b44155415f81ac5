// Adds test events to the events of the log, which has none: the page lists those that it sent.
// Pure.
import type { LoggedEvent, TestEvent } from '../../api/types';

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
