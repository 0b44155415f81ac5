// Follows the event log: the latest events first, then each new one as it comes, by long polling.
import { useEffect, useRef, useState } from 'react';
import { call, type ApiFailure } from '../../api/client';
import type { EventPage, LoggedEvent } from '../../api/types';

const LATEST = 300;
/** More events than a person looks through; older ones leave the page. */
const KEPT_MAX = 2_000;
const PAGE = 500;
const WAIT_S = 20;
/** Events that come together are shown together, so that a busy log redraws at most so often. */
const REDRAW_MS = 700;
const RETRY_MS = 5_000;

export interface Log {
  events: LoggedEvent[];
  names: string[];
  error: Error | null;
  loaded: boolean;
}

const read = (query: Record<string, string | number>, signal: AbortSignal): Promise<EventPage> =>
  call<EventPage>('GET', '/v1/events', { query, signal });

/** A delivery that is not settled is read again at this interval. */
const SETTLE_MS = 4_000;
const UNSETTLED = new Set(['pending', 'retrying']);

/** Statuses of deliveries change after the event was read: the latest ones are read again. */
function useSettled(
  live: boolean,
  events: readonly LoggedEvent[],
  setEvents: (change: (before: LoggedEvent[]) => LoggedEvent[]) => void,
): void {
  const latest = useRef(events);
  latest.current = events;
  useEffect(() => {
    if (!live) return undefined;
    const abort = new AbortController();
    const settle = async (): Promise<void> => {
      const open = latest.current
        .slice(0, PAGE)
        .findLast(({ delivery }) => UNSETTLED.has(delivery.status));
      if (!open) return;
      const page = await read({ after: open.seq - 1, limit: PAGE }, abort.signal);
      const fresh = new Map(page.events.map((event) => [event.seq, event]));
      setEvents((before) => before.map((event) => fresh.get(event.seq) ?? event));
    };
    // The log itself shows an error: this one is repeated soon.
    const timer = setInterval(() => void settle().catch(() => undefined), SETTLE_MS);
    return () => {
      clearInterval(timer);
      abort.abort();
    };
  }, [live, setEvents]);
}

export function useLog(live: boolean): Log {
  const [events, setEvents] = useState<LoggedEvent[]>([]);
  useSettled(live, events, setEvents);
  const [error, setError] = useState<Error | null>(null);
  const [loaded, setLoaded] = useState(false);
  const position = useRef<number | null>(null);
  useEffect(() => {
    const abort = new AbortController();
    const { signal } = abort;
    const step = async (): Promise<void> => {
      if (position.current === null) {
        const { oldest, newest } = await read({ limit: 1 }, signal);
        position.current = Math.max(oldest - 1, newest - LATEST, 0);
      } else if (!live) return;
      const wait = loadedOnce ? WAIT_S : 0;
      const page = await read({ after: position.current, limit: PAGE, wait }, signal);
      position.current = page.next;
      loadedOnce = true;
      setLoaded(true);
      setError(null);
      if (page.events.length > 0) {
        setEvents((before) => [...page.events.toReversed(), ...before].slice(0, KEPT_MAX));
      }
    };
    let loadedOnce = position.current !== null;
    const follow = async (): Promise<void> => {
      while (!signal.aborted) {
        let pause_ms = REDRAW_MS;
        try {
          await step();
          if (!live) return;
        } catch (problem) {
          if (signal.aborted) return;
          setError(problem as ApiFailure);
          if ((problem as ApiFailure).status === 401) return;
          pause_ms = RETRY_MS;
        }
        await new Promise((resolve) => setTimeout(resolve, pause_ms));
      }
    };
    void follow();
    return () => abort.abort();
  }, [live]);
  const names = [...new Set(events.map(({ event }) => event))].sort();
  return { events, names, error, loaded };
}
