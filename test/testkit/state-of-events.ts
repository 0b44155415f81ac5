// Events as the records that fan-out makes of them, for tests of the services that read them.
import type { Received } from '@bmg/common/bus';
import {
  contactRecord,
  ownCallbackData,
  statusRecord,
  type EventFacts,
} from '@bmg/common/messages';
import type { Contacts, Event, Statuses } from '@bmg/proto/stream';

export const statusesOfEvents = (batch: Received<Event>[]): Received<Statuses>[] =>
  batch.flatMap(({ message, ...received }) => {
    const status = statusRecord(factsOf(message));
    const { waba_id, phone_number_id } = message;
    return status
      ? [{ ...received, message: { waba_id, phone_number_id, statuses: [status] } }]
      : [];
  });

export const contactsOfEvents = (batch: Received<Event>[]): Received<Contacts>[] =>
  batch.flatMap(({ message, ...received }) => {
    const contact = contactRecord(factsOf(message));
    return contact
      ? [{ ...received, message: { waba_id: message.waba_id, contacts: [contact] } }]
      : [];
  });

const factsOf = (event: Event): EventFacts => ({
  ...event,
  data: JSON.parse(event.data) as EventFacts['data'],
  opaque: ownCallbackData(event.opaque, event),
});
