// Takes out of events what customers and the partner wrote, for a console whose operator does not
// show texts. Pure.
import type { LoggedEvent } from '@bmg/proto/webhooks';
import type { Endpoint, Fields } from '../endpoints/endpoint';

/** Members of an event's data that hold texts, or the upstream's own object with them. */
const WRITTEN = ['text', 'raw', 'value'];

/** An event as it is posted, serialised: the members with texts are null. */
export function withoutWritten(envelope: string): string {
  const { data, ...event } = JSON.parse(envelope) as { data?: Fields } & Fields;
  if (!data) return envelope;
  const hidden = WRITTEN.filter((name) => Object.hasOwn(data, name)).map((name) => [name, null]);
  return JSON.stringify({ ...event, data: { ...data, ...Object.fromEntries(hidden) } });
}

export const withoutTexts = (event: LoggedEvent): LoggedEvent => ({
  ...event,
  envelope: withoutWritten(event.envelope),
});

/** The endpoint with the texts taken out of the events in its replies. */
export function hidingTexts(endpoint: Endpoint): Endpoint {
  const { reply: makeReply = (reply: object) => reply } = endpoint;
  return { ...endpoint, reply: (reply, input) => makeReply(hideIn(reply as Fields), input) };
}

/** Replies have events as `event` or `events`, each serialised as `envelope` or `payload`. */
const hideIn = (reply: Fields): Fields => ({
  ...reply,
  ...(isEvent(reply['event']) && { event: hideOf(reply['event']) }),
  ...(Array.isArray(reply['events']) && {
    events: reply['events'].map((one: unknown) => (isEvent(one) ? hideOf(one) : one)),
  }),
});

const isEvent = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

const hideOf = (event: Fields): Fields =>
  Object.fromEntries(
    Object.entries(event).map(([name, value]) => [
      name,
      SERIALISED.has(name) && typeof value === 'string' ? withoutWritten(value) : value,
    ]),
  );

const SERIALISED: ReadonlySet<string> = new Set(['envelope', 'payload']);
