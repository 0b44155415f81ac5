export { type BroadcastSource, findBroadcast, beginningWith } from './broadcast-messages';
export { type ClosedMonths, type LateStatus, createMessages } from './store';
export {
  messageIndexes,
  type MessageRecord,
  MESSAGES,
  MESSAGES_KEPT_DAYS,
  REBUILT,
  type RecordStatus,
  type SendTrace,
  type StatusRecord,
} from './message-record';
export { createRecordReads, type LookedAt } from './record-reads';
