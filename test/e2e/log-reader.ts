// A partner's program that uses nothing but GET /events. It starts at the beginning of the log,
// stores each page together with the position behind it, and is cut off in the middle of every few
// requests.
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../testkit/eventually';
import { misplaced } from './faults-support';

export interface StoredEvent {
  seq: number;
  event_id: string;
  message_id: string;
}

export interface LogReader {
  /** Waits until the program has stored the events of these messages. */
  untilStored(message_ids: string[], limit_ms: number): Promise<void>;
  /** Messages of a conversation that were stored before an earlier one. */
  outOfOrder(conversations: string[][]): string[];
  /** Ends the program; returns the stored events. */
  stop(): Promise<StoredEvent[]>;
  /** Reads the log once more, from its beginning to the position that the program has reached. */
  readAgain(): Promise<StoredEvent[]>;
}

const PAGE = 50;
const WAIT_S = 2;
const CUT_OFF_EVERY = 5;
const CUT_OFF_MS = 30;
const REQUEST_LIMIT_MS = 15_000;
const AGAIN_MS = 200;

interface Page {
  success: boolean;
  events: Array<{ seq: number; event_id: string; envelope: { data: { message_id?: string } } }>;
  next: number;
}

export function startLogReader(base_url: string, partner_key: string): LogReader {
  const stored: StoredEvent[] = [];
  const places = new Map<string, number>();
  let position = 0;
  let requests = 0;
  let stopping = false;
  const read = async (after: number, limit_ms: number): Promise<Page> => {
    const query = `after=${after}&limit=${PAGE}&wait=${stopping ? 0 : WAIT_S}`;
    const answer = await fetch(`${base_url}/events?${query}`, {
      headers: { 'x-partner-key': partner_key },
      signal: AbortSignal.timeout(limit_ms),
    });
    const page = (await answer.json()) as Page;
    if (!page.success) throw new Error(JSON.stringify(page));
    return page;
  };
  const eventsOf = (page: Page): StoredEvent[] =>
    page.events.map(({ seq, event_id, envelope }) => ({
      seq,
      event_id,
      message_id: String(envelope.data.message_id),
    }));
  const reading = (async () => {
    while (!stopping) {
      requests += 1;
      try {
        const limit_ms = requests % CUT_OFF_EVERY === 0 ? CUT_OFF_MS : REQUEST_LIMIT_MS;
        const page = await read(position, limit_ms);
        for (const event of eventsOf(page)) {
          if (!places.has(event.message_id)) places.set(event.message_id, stored.length);
          stored.push(event);
        }
        position = page.next;
      } catch {
        await sleep(AGAIN_MS);
      }
    }
  })();
  return {
    async untilStored(message_ids, limit_ms) {
      await eventually(() => {
        const missing = message_ids.filter((id) => !places.has(id));
        if (missing.length === 0) return true;
        throw new Error(`${missing.length} are not in the log: ${missing.slice(0, 5).join()}`);
      }, limit_ms);
    },
    outOfOrder: (conversations) => misplaced(places, conversations),
    async stop() {
      stopping = true;
      await reading;
      return stored;
    },
    async readAgain() {
      const found: StoredEvent[] = [];
      for (let after = 0; after < position;) {
        const page = await read(after, REQUEST_LIMIT_MS);
        if (page.next <= after) throw new Error(`the log ends at ${after}, before ${position}`);
        found.push(...eventsOf(page));
        after = page.next;
      }
      return found.filter(({ seq }) => seq <= position);
    },
  };
}
