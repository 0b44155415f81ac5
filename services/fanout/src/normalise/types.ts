// What the normaliser hands to its caller. Names and spellings are the contract's (Events: Event
// names).

export const EVENT_NAMES = [
  'message.received',
  'message.sent',
  'message.delivered',
  'message.read',
  'message.failed',
  'message.echo',
  'message.history',
  'contact.synced',
  'template.status_updated',
  'template.quality_updated',
  'template.category_updated',
  'waba.account_updated',
  'waba.review_updated',
  'waba.quality_updated',
  'waba.tier_updated',
  'waba.pricing_tier_updated',
  'waba.offboarded',
  'waba.reconnected',
  'standby.message_received',
  'standby.message_echo',
  'standby.message_status',
  'group_lifecycle_update',
] as const;

export type EventName = (typeof EVENT_NAMES)[number];

export interface NormalisedEvent {
  /**
   * Identifies the upstream occurrence: equal for every repetition of it, different for every
   * other. Hashing to an id happens elsewhere. Starts with the event's key space, for example
   * "status|800…|wamid…|delivered".
   */
  occurrence: string;
  event: EventName;
  /** The account that the value itself names, else the entry's; '' when upstream named neither. */
  waba_id: string;
  /** Null for events of the account, or when only the display number is known. */
  phone_number_id: string | null;
  /** Digits of the named number when its id is not given; the caller resolves it. */
  display_phone_number: string | null;
  /** The conversation's other side: phone digits, else BSUID; the group id for group traffic. */
  contact: string | null;
  /** Epoch seconds: the item's own, else the entry's, else `now`. */
  timestamp: number;
  /** The event payload exactly as the partner gets it. */
  data: Record<string, unknown>;
}

export type StateChangeKind =
  | 'handover'
  | 'throughput'
  | 'offboarded'
  | 'reconnected'
  | 'partner_added'
  | 'partner_removed'
  | 'user_id_changed'
  | 'send_status';

/** What our own services must learn although no partner event tells it, or beside one. */
export interface StateChange {
  occurrence: string;
  kind: StateChangeKind;
  waba_id: string;
  phone_number_id: string | null;
  display_phone_number: string | null;
  contact: string | null;
  timestamp: number;
  data: Record<string, unknown>;
}

export type IgnoredReason =
  'no_event' | 'unknown_field' | 'unknown_status' | 'played' | 'value_errors' | 'empty';

/** Counted and logged by the caller, never sent. */
export interface Ignored {
  field: string;
  reason: IgnoredReason;
  count: number;
}

/** Goes to the dead letters with its reason; never blocks a neighbour. */
export interface Unreadable {
  field: string;
  reason: string;
  item: unknown;
}

export interface Normalised {
  events: NormalisedEvent[];
  state: StateChange[];
  ignored: Ignored[];
  unreadable: Unreadable[];
}
