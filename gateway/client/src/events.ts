// Reads the event log as one endless sequence.
import type { Client as Calls } from 'openapi-fetch';
import type { paths } from './schema';

type Query = NonNullable<paths['/events']['get']['parameters']['query']>;
type Answer = paths['/events']['get']['responses']['200']['content']['application/json'];

/** An event with its position in the log. */
export type LoggedEvent = Answer['events'][number];

export interface EventsOptions extends Pick<Query, 'after' | 'event' | 'limit'> {
  /** Ends the sequence. */
  signal?: AbortSignal;
}

/** The longest that the gateway holds a request. */
const WAIT_S = 20;

/** Store `seq` together with what you made of an event, and pass it as `after` to continue. */
export async function* readEvents(
  calls: Calls<paths, 'application/json'>,
  { signal, after, ...query }: EventsOptions,
): AsyncGenerator<LoggedEvent, void> {
  let position = after;
  while (!signal?.aborted) {
    const { data, error } = await calls
      .GET('/events', {
        params: {
          query: { ...query, wait: WAIT_S, ...(position !== undefined && { after: position }) },
        },
        ...(signal && { signal }),
      })
      .catch((failure: unknown) => {
        if (signal?.aborted) return { data: undefined, error: undefined };
        throw failure;
      });
    if (error) throw Object.assign(new Error(error.error.message), error.error);
    if (!data) return;
    yield* data.events;
    position = data.next;
  }
}
