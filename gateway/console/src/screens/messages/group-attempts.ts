// Puts the attempts of a timeline below the event that they deliver. Pure.
import type { TimelineEntry } from '../../api/types';

export interface Step {
  entry: TimelineEntry;
  /** In the order in which they were made; of an event only. */
  attempts: TimelineEntry[];
}

/**
 * The order of the entries stays. An attempt whose event is not in the timeline is a step of its
 * own.
 */
export function stepsOf(entries: readonly TimelineEntry[]): Step[] {
  const events = new Set(
    entries.flatMap(({ type, event_id }) => (type === 'event' && event_id ? [event_id] : [])),
  );
  const isOfEvent = ({ type, event_id }: TimelineEntry): boolean =>
    type === 'attempt' && event_id !== undefined && events.has(event_id);
  return entries
    .filter((entry) => !isOfEvent(entry))
    .map((entry) => ({
      entry,
      attempts:
        entry.type === 'event'
          ? entries.filter((one) => isOfEvent(one) && one.event_id === entry.event_id)
          : [],
    }));
}
