// The events beyond the contract's names, and the rule for them: a receiver gets one only if its filter
// names it, or has a prefix of it that was written since there are extra events. An empty filter matches
// none of them, so that nothing new reaches a receiver that did not ask for it.

import { EXTRA_EVENTS, type ExtraEvent } from './event-names';

const NAMES: ReadonlySet<string> = new Set(EXTRA_EVENTS);

export const isExtraEvent = (event: string): event is ExtraEvent => NAMES.has(event);

/** The filter of an endpoint, as it is stored. */
export interface EventFilter {
  /** Names, or prefixes such as `message.*`. Empty: all events but the extra ones. */
  events: readonly string[];
  /** True if its prefixes match extra events. */
  extra_by_prefix: boolean;
}

/** Returns true if an endpoint with this filter gets the event. */
export function passesFilter({ events, extra_by_prefix }: EventFilter, event: string): boolean {
  const is_extra = isExtraEvent(event);
  if (events.length === 0) return !is_extra;
  return events.some((filter) => {
    if (!filter.endsWith('.*')) return filter === event;
    return event.startsWith(filter.slice(0, -1)) && (!is_extra || extra_by_prefix);
  });
}

/** The extra events that some receiver of a partner gets. */
export const extraEventsOf = (
  of_webhook_url: readonly string[],
  endpoints: readonly EventFilter[],
): ExtraEvent[] =>
  EXTRA_EVENTS.filter(
    (event) => of_webhook_url.includes(event) || endpoints.some((one) => passesFilter(one, event)),
  );
