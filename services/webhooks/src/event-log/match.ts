// Whether an event of the log passes a reader's filter: by its fields beside the content, and by the
// contact in the content. Contacts are personal data, so they are nowhere but in the sealed content.
import { spellingsOf } from '@bmg/common/ids';
import type { LoggedEvent, Match } from './store/buckets';

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

/** Whether the event of this envelope names the contact: a phone number in any spelling, or a BSUID. */
export function namesContact(envelope: Buffer, contact: string): boolean {
  const spellings: readonly unknown[] = spellingsOf(contact);
  // Most envelopes need not be parsed.
  if (!spellings.some((one) => envelope.includes(one as string))) return false;
  const { data } = JSON.parse(envelope.toString('utf8')) as { data?: Record<string, unknown> };
  return CONTACT_FIELDS.some((field) => spellings.includes(data?.[field]));
}

/** By all but the contact. A deleted event passes no filter: only its position and ID are left. */
export const passes = (
  { waba_id, events }: Match,
  one: Pick<LoggedEvent, 'event' | 'waba_id'>,
): boolean =>
  one.event !== '' &&
  (waba_id === undefined || one.waba_id === waba_id) &&
  (!events || events.includes(one.event));
