// The health of the receiver in the latest events: the accepted share and the response times. Pure.
import type { LoggedEvent } from '../../api/types';

interface Point {
  /** Unix seconds: the start of the interval. */
  at_s: number;
  /** Its end. If no point starts there, no event had an outcome. */
  until_s: number;
  /** Percentage of the events with an outcome; null without any. */
  accepted: number | null;
  /** Median time of the last attempts that got an answer. */
  answer_ms: number | null;
}

const POINTS_MAX = 40;
const SECOND_MS = 1_000;
const PERCENT = 100;

const WITH_OUTCOME = new Set(['delivered', 'retrying', 'failed']);

/** Events that wait for their first attempt have no outcome yet. */
export const triedOf = (events: readonly LoggedEvent[]): LoggedEvent[] =>
  events.filter(({ delivery }) => WITH_OUTCOME.has(delivery.status));

export const deliveredOf = (events: readonly LoggedEvent[]): number =>
  events.filter(({ delivery }) => delivery.status === 'delivered').length;

/** Events of the same interval are one point. `failed` is absent without any. */
export function healthOf(events: readonly LoggedEvent[]) {
  const tried = triedOf(events);
  const times = tried.map(({ logged_at }) => Date.parse(logged_at));
  const first = Math.min(...times);
  const width_ms = Math.max(SECOND_MS, (Math.max(...times) - first + 1) / POINTS_MAX);
  const groups = new Map<number, LoggedEvent[]>();
  for (const [index, event] of tried.entries()) {
    const group = Math.floor(((times[index] as number) - first) / width_ms);
    const others = groups.get(group);
    if (others) others.push(event);
    else groups.set(group, [event]);
  }
  const points = [...groups]
    .sort(([a], [b]) => a - b)
    .map(([group, some]) => ({
      at_s: (first + group * width_ms) / SECOND_MS,
      until_s: (first + (group + 1) * width_ms) / SECOND_MS,
      ...outcomeOf(some),
    }));
  const failed = tried.length - deliveredOf(tried);
  return { points, ...outcomeOf(tried), ...(failed > 0 && { failed }) };
}

/** A connection that was refused has a duration too, but no answer. */
const isAnswered = ({ delivery }: LoggedEvent): boolean => delivery.last_http_status !== null;

function outcomeOf(events: readonly LoggedEvent[]): Pick<Point, 'accepted' | 'answer_ms'> {
  const times = events
    .filter(isAnswered)
    .flatMap(({ delivery }) => delivery.last_duration_ms ?? [])
    .sort((a, b) => a - b);
  return {
    accepted: events.length === 0 ? null : (deliveredOf(events) / events.length) * PERCENT,
    answer_ms: times[Math.floor(times.length / 2)] ?? null,
  };
}

/** What the charts draw: one list for each line. A line has a gap where no event had an outcome. */
export interface Series {
  times_ms: number[];
  accepted: Array<number | null>;
  answer_ms: Array<number | null>;
}

/** Intervals are computed from fractions of milliseconds. */
const ROUNDING_S = 0.001;

export function seriesOf(points: readonly Point[]): Series {
  const series: Series = { times_ms: [], accepted: [], answer_ms: [] };
  const add = (at_s: number, point?: Point): void => {
    series.times_ms.push(at_s * SECOND_MS);
    series.accepted.push(point?.accepted ?? null);
    series.answer_ms.push(point?.answer_ms ?? null);
  };
  for (const [index, point] of points.entries()) {
    add(point.at_s, point);
    const next = points[index + 1];
    if (next && next.at_s > point.until_s + ROUNDING_S) add(point.until_s);
  }
  return series;
}
