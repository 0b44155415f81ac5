// Events for the tests of destinations, and a sender that repeats what is not confirmed.
import { eventually } from './eventually';

export interface TestEvent {
  event_id: string;
  event: string;
  ordering_key: string | undefined;
  body: Buffer;
  content_type: string;
  received_at_ms: number;
}

type Sent = { ok: true } | { ok: false; error: string; permanent: boolean };

interface TestDestination {
  send(events: readonly TestEvent[]): Promise<Sent[]>;
}

const CONVERSATIONS = 20;
const CALL_EVENTS = 50;

export const aTestEvent = (change: Partial<TestEvent> = {}): TestEvent => ({
  event_id: 'evt_1',
  event: 'message.received',
  ordering_key: undefined,
  body: Buffer.from('{}'),
  content_type: 'application/json',
  received_at_ms: 0,
  ...change,
});

/** Events of several conversations; `series` keeps their ids apart from those of other tests. */
export function testEvents(series: string, count: number): TestEvent[] {
  const received_at_ms = Date.parse('2026-11-25T13:30:00Z');
  return Array.from({ length: count }, (_one, at) => {
    const event_id = `evt_${series}_${at}`;
    const text = `Grüße, ${at} 👋`;
    return aTestEvent({
      event_id,
      ordering_key: `800000000000001|49170${at % CONVERSATIONS}`,
      body: Buffer.from(
        JSON.stringify({ event: 'message.received', data: { text }, meta: { event_id } }),
      ),
      received_at_ms,
    });
  });
}

/**
 * Sends the events in calls of some, and each again until it is confirmed; returns the confirmed
 * ids. `onProgress` runs beside it after every call, with the number of confirmed events.
 */
export async function sendAll(
  destination: TestDestination,
  events: readonly TestEvent[],
  onProgress: (confirmed: number) => Promise<void> = async () => undefined,
): Promise<Set<string>> {
  const confirmed = new Set<string>();
  const beside: Promise<void>[] = [];
  for (let at = 0; at < events.length; at += CALL_EVENTS) {
    const call = events.slice(at, at + CALL_EVENTS);
    await eventually(async () => {
      const open = call.filter(({ event_id }) => !confirmed.has(event_id));
      const sent = await destination.send(open);
      sent.forEach((one, index) => one.ok && confirmed.add(open[index]?.event_id ?? ''));
      const failed = sent.find((one) => !one.ok);
      if (failed && !failed.ok) throw new Error(failed.error);
      return true;
    });
    beside.push(onProgress(confirmed.size));
  }
  await Promise.all(beside);
  return confirmed;
}
