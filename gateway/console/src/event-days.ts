// Events by day, from one read of the log for each day: its first events, whose positions count and
// whose deliveries are a sample of the receiver's answers. Pure.
import type { EventPage } from './api/types';
import { healthOf } from './screens/events/health';

export interface EventDay {
  day: string;
  events: number;
  /** Percentage of the sample that the receiver accepted; null without an outcome. */
  accepted: number | null;
  /** Median of the sample. */
  answer_ms: number | null;
}

/** The answer to a read from the start of the day, which goes on into later days. */
export interface DayRead {
  day: string;
  page: Pick<EventPage, 'events' | 'newest'>;
}

/** `reads` are of days that follow each other. The positions of a log have no gaps. */
export function eventDaysOf(reads: readonly DayRead[]): EventDay[] {
  const newest = Math.max(0, ...reads.map(({ page }) => page.newest));
  const firsts = reads.map(({ page }) => page.events[0]?.seq ?? newest + 1);
  return reads.map(({ day, page }, at) => {
    const sample = page.events.filter(({ logged_at }) => logged_at.startsWith(day));
    const { accepted, answer_ms } = healthOf(sample);
    const next = firsts[at + 1] ?? newest + 1;
    return { day, events: Math.max(0, next - (firsts[at] as number)), accepted, answer_ms };
  });
}
