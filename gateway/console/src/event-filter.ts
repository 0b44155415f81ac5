// Which events a receiver's filter takes, and the events by family. Pure.
import type { KnownEvent } from './api/types';
import { nounOf } from './period';

/** Names, and families such as `message.*`. Null: all but the extra events. */
export type EventFilter = readonly string[] | null;

export interface Family {
  name: string;
  /** The filter that takes all of it, also events that are added later; null if it has none. */
  filter: string | null;
  events: KnownEvent[];
}

const FAMILY_END = '.*';
const isFamily = (filter: string): boolean => filter.endsWith(FAMILY_END);
const isOf = (event: string, family: string): boolean =>
  event.startsWith(family.slice(0, -FAMILY_END.length + 1));

const takesName = (filters: readonly string[], event: string): boolean =>
  filters.some((filter) => filter === event || (isFamily(filter) && isOf(event, filter)));

export const takes = (filter: EventFilter, { event, extra }: Omit<KnownEvent, 'summary'>) =>
  filter === null ? !extra : takesName(filter, event);

/** The events that have each word in their name or their purpose, in the order of the list. */
export function familiesOf(events: readonly KnownEvent[], find = ''): Family[] {
  const words = find.toLowerCase().split(/\s+/);
  const families = new Map<string, Family>();
  for (const one of events) {
    const text = `${one.event} ${one.summary}`.toLowerCase();
    if (!words.every((word) => text.includes(word))) continue;
    const [name = ''] = one.event.split('.');
    const filter = one.event.includes('.') ? name + FAMILY_END : null;
    const family = families.get(name) ?? { name, filter, events: [] };
    families.set(name, family);
    family.events.push(one);
  }
  return [...families.values()];
}

/** The boxes that are checked: what is chosen, and each event of a chosen family. */
export const checkedOf = (chosen: readonly string[], events: readonly KnownEvent[]): string[] => [
  ...chosen,
  ...events
    .map(({ event }) => event)
    .filter((event) => !chosen.includes(event) && takesName(chosen, event)),
];

/** What is chosen once the boxes have changed: a family takes its events with it, on and off. */
export function chosenOf(before: readonly string[], checked: readonly string[]): string[] {
  const families = [...before, ...checked].filter(isFamily);
  return checked.filter((one) => isFamily(one) || !families.some((family) => isOf(one, family)));
}

/** True if both take the same, in whatever order they name it. */
export const isSame = (one: EventFilter, other: EventFilter): boolean =>
  JSON.stringify(one?.toSorted()) === JSON.stringify(other?.toSorted());

/** How often each event is among these. */
export function countsOf(events: ReadonlyArray<{ event: string }>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { event } of events) counts.set(event, (counts.get(event) ?? 0) + 1);
  return counts;
}

const NAMED_MAX = 2;

/** For a list: `message.*, call.connect and 3 more`. */
export function inWords(filter: EventFilter): string {
  if (filter === null) return 'all';
  const rest = filter.length - NAMED_MAX;
  const named = filter.slice(0, NAMED_MAX).join(', ');
  return rest > 0 ? `${named} and ${nounOf(rest, 'other')}` : named;
}
