// Follows the event log: the latest events first, then each new one as it comes, by server-sent
// events. If a stream does not work, the log is read every few seconds instead, and its error is
// shown.
import { useDocumentVisibility } from '@mantine/hooks';
import { useEffect, useRef, useState } from 'react';
import { addressOf, call, type ApiFailure } from '../../api/client';
import type { EventPage, LoggedEvent } from '../../api/types';

const LATEST = 300;
/** More events than a person looks through; older ones leave the page. */
const KEPT_MAX = 2_000;
const PAGE = 500;
/** Events that arrive together are shown together, which bounds how often a busy log redraws. */
const REDRAW_MS = 700;
const RETRY_MS = 5_000;

/** How new events arrive. */
export type Feed = 'paused' | 'live' | 'reconnecting' | 'reading';

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

interface Listener {
  onEvents(events: LoggedEvent[]): void;
  onFeed(feed: Feed): void;
}

/** Resolves when the browser gives up on the stream: it reopens a broken one itself. */
function stream(after: number, { onEvents, onFeed }: Listener, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    let waiting: LoggedEvent[] = [];
    const source = new EventSource(addressOf('/events/stream', { after }));
    const show = (): void => {
      if (waiting.length > 0) onEvents(waiting);
      waiting = [];
    };
    const timer = setInterval(show, REDRAW_MS);
    const close = (): void => {
      clearInterval(timer);
      source.close();
      show();
      resolve();
    };
    source.onopen = () => onFeed('live');
    source.onmessage = ({ data }: MessageEvent<string>) =>
      waiting.push(JSON.parse(data) as LoggedEvent);
    source.onerror = () =>
      source.readyState === EventSource.CLOSED ? close() : onFeed('reconnecting');
    signal.addEventListener('abort', close, { once: true });
  });
}

export function useLog(wanted: boolean) {
  const [events, setEvents] = useState<LoggedEvent[]>([]);
  const [error, setError] = useState<Error | null>(null);
  const [loaded, setLoaded] = useState(false);
  const [feed, setFeed] = useState<Feed>('reading');
  const position = useRef<number | null>(null);
  // A browser has few connections to a host: hidden tabs must not use them up.
  const live = useDocumentVisibility() === 'visible' && wanted;
  useSettled(live, events, setEvents);
  useEffect(() => {
    const abort = new AbortController();
    const { signal } = abort;
    const onEvents = (fresh: LoggedEvent[]): void => {
      position.current = fresh.at(-1)?.seq ?? position.current;
      if (fresh.length > 0) {
        setEvents((before) => [...fresh.toReversed(), ...before].slice(0, KEPT_MAX));
      }
    };
    const readOn = async (): Promise<void> => {
      if (position.current === null) {
        const { oldest, newest } = await read({ limit: 1 }, signal);
        position.current = Math.max(oldest - 1, newest - LATEST, 0);
      }
      const page = await read({ after: position.current, limit: PAGE }, signal);
      onEvents(page.events);
      position.current = page.next;
      setLoaded(true);
      setError(null);
    };
    const follow = async (): Promise<void> => {
      while (live || position.current === null) {
        try {
          await readOn();
          if (!live) return;
          await stream(position.current ?? 0, { onEvents, onFeed: setFeed }, signal);
          setFeed('reading');
        } catch (problem) {
          if (signal.aborted) return;
          setError(problem as ApiFailure);
          if ((problem as ApiFailure).status === 401) return;
        }
        if (signal.aborted) return;
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
        if (signal.aborted) return;
      }
    };
    void follow();
    return () => abort.abort();
  }, [live]);
  const names = [...new Set(events.map(({ event }) => event))].sort();
  return { events, names, error, loaded, feed: live ? feed : ('paused' as const) };
}
