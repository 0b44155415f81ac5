export { readCallbackData, writeCallbackData, type CallbackData } from './callback-data';
export { RECIPIENT_MISSING, resolveRecipient, upstreamAddress, type Recipient } from './recipient';
