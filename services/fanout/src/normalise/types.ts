// The normaliser's results.
import type { UpstreamEvent } from '@bmg/common/messages';

/** The part that events and state changes have in common. */
interface Result {
  /**
   * Identifies the upstream occurrence: equal for every repetition, different for any other
   * occurrence. It starts with the event's key space, for example "status|800…|wamid…|delivered".
   * The caller hashes it to an id.
   */
  occurrence: string;
  /** The account named in the value, else in the entry; '' if upstream named neither. */
  waba_id: string;
  /** Null for events of the account, or when only the display number is known. */
  phone_number_id: string | null;
  /** The number's digits when its id is not given; the caller resolves them to an id. */
  display_phone_number: string | null;
  /** The conversation's other side: phone digits, else BSUID; the group id for group traffic. */
  contact: string | null;
  /** Epoch seconds: the item's own, else the entry's, else `now`. */
  timestamp: number;
  /** For an event exactly as the partner gets it. */
  data: Record<string, unknown>;
}

export interface NormalisedEvent extends Result {
  event: UpstreamEvent;
  /**
   * The callback data of the send, if the event is its status. It is for our own services only,
   * and to be trusted no further than the sender (outgoing.ts).
   */
  callback_data?: string;
  /** Set if the event was published before, from the other source: a webhook, or gap repair. */
  duplicate?: true;
  /** Set for an extra event: how it is counted if no partner's filter names it. */
  ignored_as?: Pick<Ignored, 'field' | 'reason'>;
}

export type StateChangeKind =
  | 'handover'
  | 'throughput'
  | 'history_sync'
  | 'offboarded'
  | 'reconnected'
  | 'partner_added'
  | 'partner_removed'
  | 'user_id_changed';

/** A state change for our own services, with or without a partner event. */
export interface StateChange extends Result {
  kind: StateChangeKind;
}

export type IgnoredReason =
  'no_event' | 'unknown_field' | 'unknown_status' | 'played' | 'value_errors' | 'empty';

/** An item that yields no event, or only one that no partner's filter names. */
export interface Ignored {
  field: string;
  reason: IgnoredReason;
  count: number;
}

/** An item that goes to the dead letters with its reason. It never blocks other items. */
export interface Unreadable {
  field: string;
  reason: string;
  item: unknown;
}

export interface Normalised {
  events: NormalisedEvent[];
  state: StateChange[];
  /** Counts the ignored items by reason and field. */
  ignored: Map<string, Ignored>;
  unreadable: Unreadable[];
}
