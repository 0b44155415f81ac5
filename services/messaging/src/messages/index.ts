export { type BroadcastSource, findBroadcast } from './broadcast-messages';
export type { ClosedMonths, LateStatus } from './late-statuses';
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
export { createRecordReads, type LookedAt, type RecordReads } from './record-reads';
export { beginningWith } from './request-ids';
export { createMessages, type Messages } from './store';
