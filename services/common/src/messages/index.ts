export { RECIPIENT_MISSING, resolveRecipient, upstreamAddress, type Recipient } from './recipient';
