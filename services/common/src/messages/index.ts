export {
  checkContactCount,
  ContactFaults,
  INVALID_CONTACT,
  parseContact,
} from './broadcast-contacts';
export { readCallbackData, writeCallbackData, type CallbackData } from './callback-data';
export { CONTACT_CARDS_MAX } from './contact-cards';
export { eventIdOf, eventIdsOfMessage, occurrence } from './event-ids';
export {
  ONBOARDING_EVENTS,
  EXTRA_EVENTS,
  EXTRA_UPSTREAM_EVENTS,
  extraEventsOf,
  isExtraEvent,
  passesFilter,
  type ExtraEvent,
  type ExtraUpstreamEvent,
} from './extra-events';
export { readPricing, WINDOW_BILLABLE_FROM, type StatusPricing } from './pricing';
export { RECIPIENT_MISSING, resolveRecipient, upstreamAddress, type Recipient } from './recipient';
export {
  contactRecord,
  ownCallbackData,
  RECONCILED,
  statusRecord,
  type EventFacts,
} from './state-records';
export {
  eventOfStatus,
  MESSAGE_STATUSES,
  statusesBelow,
  statusOfEvent,
  statusRank,
  type MessageStatus,
  type StatusEvent,
} from './status-order';
