// Reads the upstream's message history and builds the webhook that did not arrive.
import {
  eventOfStatus,
  statusRank,
  writeCallbackData,
  type MessageStatus,
} from '@bmg/common/messages';
import { parseBsuid } from '@bmg/common/ids';
import { isObject, type Json } from '@bmg/common/upstream';
import type { MessageRecord } from '../messages';

export interface KnownStatus {
  status: MessageStatus;
  at: Date;
  error: string | undefined;
}

export const HISTORY_FIELDS =
  'id,message_id,events{id,delivery_status,webhook_update_state,timestamp,error_description}';

/**
 * Two schemas of the upstream spell the failure differently; ACCEPTED and DELETED have no event.
 */
const SYNONYMS: Readonly<Record<string, string>> = { error: 'failed' };

/** An answer of another shape contains nothing to repair. */
const dataOf = ({ data }: Json): Json[] => (Array.isArray(data) ? data.filter(isObject) : []);

/** The statuses of one message, each once, in the order of time. */
export function readHistory(answer: Json, message_id: string): KnownStatus[] {
  const found = new Map<MessageStatus, KnownStatus>();
  for (const message of dataOf(answer)) {
    if (message['message_id'] !== message_id || !isObject(message['events'])) continue;
    for (const event of dataOf(message['events'])) {
      const known = readEvent(event);
      if (known && !found.has(known.status)) found.set(known.status, known);
    }
  }
  return [...found.values()].sort((a, b) => statusRank(a.status) - statusRank(b.status));
}

function readEvent(event: Json): KnownStatus | undefined {
  const name = String(event['delivery_status'] ?? '').toLowerCase();
  const status = SYNONYMS[name] ?? name;
  const seconds = Number(event['timestamp'] ?? event['occurrence_timestamp']);
  if (eventOfStatus(status) === undefined || !Number.isSafeInteger(seconds)) return undefined;
  const error = event['error_description'];
  return {
    status: status as MessageStatus,
    at: new Date(seconds * 1_000),
    error: typeof error === 'string' ? error : undefined,
  };
}

/** The statuses that no webhook brought. Recent ones are left out: it may be on its way. */
export const missingFrom = (
  { statuses }: Pick<MessageRecord, 'statuses'>,
  known: KnownStatus[],
  before: Date,
): KnownStatus[] => known.filter(({ status, at }) => at <= before && !statuses?.[status]);

/** The body of the webhook that should have reported these statuses. */
export function webhookOf(
  record: MessageRecord,
  wa_id: string | undefined,
  missing: KnownStatus[],
): Json {
  const { _id, partner_id, waba_id, phone_number_id, message_id, recipient } = record;
  const addressee =
    parseBsuid(recipient) === null
      ? { recipient_id: wa_id ?? recipient }
      : { recipient_user_id: recipient };
  const statuses = missing.map(({ status, at, error }) => ({
    id: message_id,
    status,
    timestamp: String(at.getTime() / 1_000),
    ...addressee,
    biz_opaque_callback_data: writeCallbackData(partner_id, _id),
    ...(error !== undefined && { errors: [{ title: error, message: error }] }),
  }));
  const value = { messaging_product: 'whatsapp', metadata: { phone_number_id }, statuses };
  return {
    object: 'whatsapp_business_account',
    entry: [{ id: waba_id, changes: [{ field: 'messages', value }] }],
  };
}
