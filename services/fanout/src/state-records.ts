// The state that our own services store: collected from the items of a batch, so that all statuses
// of a number's lane of conversations, and all contacts of an account, make one Kafka record.
import { topics, type Outgoing } from '@bmg/common/bus';
import { LRUCache } from '@bmg/common/cache';
import { contentId } from '@bmg/common/ids';
import { contactRecord, statusRecord, type UpstreamEvent } from '@bmg/common/messages';
import type { SpanContext } from '@bmg/common/telemetry';
import { conversationKey } from '@bmg/common/upstream-webhook';
import type { Contacts, Event, Statuses } from '@bmg/proto/stream';
import type { StateChangeKind } from './normalise';

/** An item whose owners are known. */
export interface StateItem extends Omit<Event, 'occurrence_id' | 'data'> {
  occurrence: string;
  event: UpstreamEvent | StateChangeKind;
  data: Record<string, unknown>;
  /** The data as JSON text. */
  json: string;
  span: SpanContext;
}

/** Events of which a service keeps more state than a status or a contact, with their topic. */
const WHOLE = new Map<string, typeof topics.template | typeof topics.account>([
  ['template.status_updated', topics.template],
  ['template.quality_updated', topics.template],
  ['template.category_updated', topics.template],
  ['waba.tier_updated', topics.account],
  ['waba.quality_updated', topics.account],
  ['throughput', topics.account],
  ['history_sync', topics.account],
  ['offboarded', topics.account],
  ['reconnected', topics.account],
  ['partner_added', topics.account],
  ['partner_removed', topics.account],
] satisfies Array<
  [UpstreamEvent | StateChangeKind, typeof topics.template | typeof topics.account]
>);

/** Replays of the past, which are no evidence of present activity. */
const NO_ACTIVITY = new Set<string>(['message.history'] satisfies UpstreamEvent[]);
const ACTIVE = 'active';
/** At most one record of a number's activity in this time. */
const ACTIVITY_EVERY_S = 60;
const NUMBERS_MAX = 100_000;
/** Bounds one record, which is retried and put aside as a whole. */
const RECORD_ITEMS_MAX = 500;

/** When each number was last published as active, in epoch seconds. */
export type Activity = LRUCache<string, number>;

export const createActivity = (): Activity => new LRUCache({ max: NUMBERS_MAX });

export type StateRecords = ReturnType<typeof createStateRecords>;

/** Collects for one batch; `active` is kept between batches. */
export function createStateRecords(active: Activity, now_ms: number) {
  let records: Outgoing<unknown>[] = [];
  let statuses = new Map<string, Statuses>();
  let contacts = new Map<string, Contacts>();
  /** Numbers whose activity is to be published, with its time in epoch seconds. */
  const activity = new Map<string, number>();

  const addStatus = (item: StateItem): void => {
    const status = statusRecord(item);
    if (!status) return;
    const { waba_id, phone_number_id, contact, span } = item;
    const key = conversationKey(phone_number_id ?? waba_id, contact);
    let record = statuses.get(key);
    if (!record || record.statuses.length >= RECORD_ITEMS_MAX) {
      record = { waba_id, phone_number_id, statuses: [] };
      statuses.set(key, record);
      records.push({ topic: topics.status, key, message: record, span });
    }
    record.statuses.push(status);
  };
  const addContact = (item: StateItem): void => {
    const contact = contactRecord(item);
    const { waba_id, span } = item;
    if (!contact || waba_id === '') return;
    let record = contacts.get(waba_id);
    if (!record || record.contacts.length >= RECORD_ITEMS_MAX) {
      record = { waba_id, contacts: [] };
      contacts.set(waba_id, record);
      records.push({ topic: topics.contact, key: waba_id, message: record, span });
    }
    record.contacts.push(contact);
  };
  const addEvent = (topic: typeof topics.account, item: StateItem, event: Event): void => {
    records.push({ topic, key: item.waba_id, message: event, span: item.span });
  };
  const addActivity = (item: StateItem): void => {
    const { phone_number_id } = item;
    if (item.internal || phone_number_id === undefined || NO_ACTIVITY.has(item.event)) return;
    // A timestamp in the future would hide all activity before it.
    const at = Math.min(item.timestamp, Math.floor(now_ms / 1_000));
    const last = activity.get(phone_number_id) ?? active.get(phone_number_id);
    if (last !== undefined && at - last < ACTIVITY_EVERY_S) return;
    activity.set(phone_number_id, at);
    addEvent(topics.account, item, {
      ...eventOf(item),
      event: ACTIVE,
      contact: undefined,
      timestamp: at,
      data: '{}',
      opaque: undefined,
    });
  };
  return {
    add(item: StateItem): void {
      const topic = WHOLE.get(item.event);
      if (topic) addEvent(topic, item, eventOf(item));
      addStatus(item);
      addContact(item);
      addActivity(item);
    },
    /** The records of the items added since the last call. */
    take(): Outgoing<unknown>[] {
      const taken = records;
      records = [];
      statuses = new Map();
      contacts = new Map();
      return taken;
    },
    /** Call once the taken records are in Kafka. */
    published(): void {
      for (const [number, at] of activity) active.set(number, at);
      activity.clear();
    },
  };
}

const eventOf = (item: StateItem): Event => ({
  occurrence_id: contentId('occ', item.occurrence),
  event: item.event,
  internal: item.internal,
  waba_id: item.waba_id,
  phone_number_id: item.phone_number_id,
  contact: item.contact,
  timestamp: item.timestamp,
  data: item.json,
  received_at_ms: item.received_at_ms,
  partner_ids: item.partner_ids,
  opaque: item.opaque,
});
