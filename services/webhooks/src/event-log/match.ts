// Whether an event of the log passes a reader's filter: by its fields beside the content, and by the
// contact in the content. Contacts are personal data, so they are nowhere but in the sealed content.
import type { LoggedEvent, Match } from '../store/event-log';

/** Fields of an event's data that name a person. */
const CONTACT_FIELDS = [
  'from',
  'to',
  'bsuid',
  'recipient',
  'recipient_bsuid',
  'participant',
  'participant_bsuid',
  'phone_number',
];

/** Whether the event of this envelope names the contact: digits of a phone number, or a BSUID. */
export function namesContact(envelope: Buffer, contact: string): boolean {
  // Most envelopes need not be parsed.
  if (!envelope.includes(contact)) return false;
  const { data } = JSON.parse(envelope.toString('utf8')) as { data?: Record<string, unknown> };
  return CONTACT_FIELDS.some((field) => data?.[field] === contact);
}

/** By all but the contact. A deleted event passes no filter: only its position and ID are left. */
export const passes = (
  { waba_id, events }: Match,
  one: Pick<LoggedEvent, 'event' | 'waba_id'>,
): boolean =>
  one.event !== '' &&
  (waba_id === undefined || one.waba_id === waba_id) &&
  (!events || events.includes(one.event));
