// Whether an event of the log passes a reader's filter.
import type { LoggedEvent, Match } from '../store/event-log';

/** A deleted event passes no filter: only its position and ID are left. */
export const passes = (
  { waba_id, events }: Match,
  one: Pick<LoggedEvent, 'event' | 'waba_id'>,
): boolean =>
  one.event !== '' &&
  (waba_id === undefined || one.waba_id === waba_id) &&
  (!events || events.includes(one.event));
