// The records of one event on the topics `status` and `contact`, and the callback data that leads
// from a status to its send.
import {
  Contacts_Contact_Kind as Kind,
  type Contacts_Contact,
  type Event,
  type Statuses_Status,
} from '@bmg/proto/stream';
import { statusOfEvent } from './statuses';

type Data = Readonly<Record<string, unknown>>;

/** An event with its data parsed. */
export interface EventFacts {
  event: string;
  timestamp: number;
  phone_number_id?: string | undefined;
  contact?: string | null | undefined;
  opaque?: string | undefined;
  received_at_ms: number;
  data: Data;
}

/** `data.source` of a status that was read from the upstream's message history. */
export const RECONCILED = 'reconciled';

/** Undefined for an event that is not the status of a message. */
export function statusRecord(facts: EventFacts): Statuses_Status | undefined {
  const status = statusOfEvent(facts.event);
  if (!status) return undefined;
  const { message_id, recipient, recipient_bsuid, participant, participant_bsuid, errors } =
    facts.data;
  const { category, billable, type, pricing_model } = objectOf(facts.data['pricing']);
  return {
    message_id: textOf(message_id) ?? '',
    status,
    timestamp: facts.timestamp,
    opaque: facts.opaque,
    recipient: textOf(recipient) ?? textOf(recipient_bsuid),
    error_code: errorCodesOf(errors)[0],
    pricing_category: textOf(category),
    pricing_billable: typeof billable === 'boolean' ? billable : undefined,
    pricing_type: textOf(type),
    contact: facts.contact ?? undefined,
    received_at_ms: facts.received_at_ms,
    reconciled: facts.data['source'] === RECONCILED,
    pricing_model: textOf(pricing_model),
    participant: textOf(participant) ?? textOf(participant_bsuid),
  };
}

/** The upstream accepts a send to an unknown number and reports the failure later. */
const UNDELIVERABLE = '131026';

type Statement = Pick<Contacts_Contact, 'kind'> & {
  phone: unknown;
  wa_id?: unknown;
  bsuid?: unknown;
  /** The BSUID that follows this one. */
  next_bsuid?: unknown;
  from_ad?: boolean;
  /** True if the contact wrote a message. */
  inbound?: boolean;
};

/** What no customer wrote: it opens no 24-hour window. */
const UNWRITTEN: ReadonlySet<unknown> = new Set(['system', 'request_welcome']);

const BSUID_CHANGED = 'user_changed_user_id';

const received = ({ from, bsuid, contact, raw, type }: Data): Statement => {
  const message = objectOf(objectOf(raw)['message']);
  const system = objectOf(message['system']);
  return {
    kind: Kind.KIND_TRAFFIC,
    phone: from,
    wa_id: objectOf(contact)['wa_id'],
    bsuid: bsuid ?? system['previous_user_id'],
    next_bsuid: system['type'] === BSUID_CHANGED ? system['user_id'] : undefined,
    from_ad: Boolean(message['referral']),
    inbound: !UNWRITTEN.has(type),
  };
};

const CONTACT_READERS: ReadonlyMap<string, (data: Data) => Statement | undefined> = new Map<
  string,
  (data: Data) => Statement | undefined
>([
  ['message.received', received],
  ['standby.message_received', received],
  [
    'contact.synced',
    ({ phone_number, action }) => ({
      kind: action === 'remove' ? Kind.KIND_UNSYNCED : Kind.KIND_SYNCED,
      phone: phone_number,
    }),
  ],
  [
    'message.failed',
    ({ recipient, errors }) =>
      errorCodesOf(errors).includes(UNDELIVERABLE)
        ? { kind: Kind.KIND_UNDELIVERABLE, phone: recipient }
        : undefined,
  ],
]);

/** Undefined for an event without facts about a contact. */
export function contactRecord(facts: EventFacts): Contacts_Contact | undefined {
  const { event, timestamp, phone_number_id, data } = facts;
  const statement = CONTACT_READERS.get(event)?.(data);
  const phone = textOf(statement?.phone);
  const bsuid = textOf(statement?.bsuid);
  if (!statement || (phone ?? bsuid) === undefined) return undefined;
  return {
    kind: statement.kind,
    phone: phone ?? '',
    wa_id: textOf(statement.wa_id),
    timestamp,
    phone_number_id: statement.inbound ? phone_number_id : undefined,
    bsuid,
    from_ad: statement.from_ad || undefined,
    next_bsuid: textOf(statement.next_bsuid),
  };
}

/**
 * Callback data is only as trustworthy as the sender, who may have an upstream token: it counts only if
 * it names a partner that owns the number of the event. Services look for the send with both.
 */
export function ownCallbackData(
  callback_data: string | undefined,
  { phone_number_id, partner_ids }: Pick<Event, 'phone_number_id' | 'partner_ids'>,
): string | undefined {
  if (phone_number_id === undefined) return undefined;
  const partner_id = readCallbackData(callback_data)?.partner_id;
  return partner_id !== undefined && partner_ids.includes(partner_id) ? callback_data : undefined;
}

const objectOf = (value: unknown): Data =>
  typeof value === 'object' && value !== null ? (value as Data) : {};

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

/** The codes as text: a code may be a number that keeps the upstream's digits. */
const errorCodesOf = (errors: unknown): string[] =>
  (Array.isArray(errors) ? errors : []).flatMap((error) => {
    const { code } = objectOf(error);
    return code === undefined || code === null ? [] : [String(code)];
  });

const PATTERN = /^bmg1:([^:]+):(.+)$/s;

/**
 * The `biz_opaque_callback_data` of every send: the upstream returns it with each status of the
 * message, so a status leads back to the partner and the request even if a crash lost the record of
 * the send. A partner with an upstream token can write any value: check that the partner owns the
 * number, and look for the request with both.
 */
export interface CallbackData {
  partner_id: string;
  request_id: string;
}

export const writeCallbackData = (partner_id: string, request_id: string): string =>
  `bmg1:${partner_id}:${request_id}`;

/** Undefined for a message that was not sent through this service. */
export function readCallbackData(data: string | undefined): CallbackData | undefined {
  const match = data === undefined ? null : PATTERN.exec(data);
  return match ? { partner_id: match[1] as string, request_id: match[2] as string } : undefined;
}
