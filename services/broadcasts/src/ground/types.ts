// The stored documents. A broadcast is one document. Its contacts are stored in chunks that are
// written once. Each chunk has a second, small document with the contacts' states, the only one
// that a running broadcast rewrites.
import type { BroadcastStatus } from './broadcast-machine';
import type { Failure, Tally } from './contact-state';
import { parseBsuid } from '@bmg/common/ids';

/** Why a broadcast ended before all its contacts were tried. */
export interface Stop {
  code: string;
  message: string;
}

/** Returned to the partner when the broadcast was created. */
export interface Warning {
  code: string;
  message: string;
}

/** The approval of a second person, which a large broadcast needs. */
export interface Approval {
  /** The person who created the broadcast; null for a key. */
  created_by: string | null;
  /** Set once it is approved. */
  approved_by: string | null;
  approved_at: Date | null;
}

export interface Broadcast {
  /** Unique among all partners, and internal: chunks, contacts and request ids refer to it. */
  _id: number;
  /** `<partner>/<number>`; absent if an earlier release stored it: then `_id` is the number. */
  public_id?: string;
  partner_id: string;
  waba_id: string;
  phone_number_id: string;
  name: string;
  template_name: string;
  template_language: string;
  /** JSON: keys of an upstream object may contain characters that database keys may not. */
  template_components: string;
  salt: string;
  chunk_count: number;
  total: number;
  skipped: number;
  duplicates: number;
  status: BroadcastStatus;
  scheduled_at: Date | null;
  started_at: Date | null;
  completed_at: Date | null;
  /** Since when it is paused. It stays if the broadcast is cancelled then. */
  paused_at?: Date | null;
  /** Absent if it needs none. */
  approval?: Approval;
  created_at: Date;
  stop: Stop | null;
  /** True while its contacts are stored; absent once they are deleted. */
  has_contacts?: boolean;
  /** Absent in broadcasts that an earlier release stored. */
  warnings?: Warning[];
  /**
   * The identities of the request that created it, both below `<partner>/`: of the partner's key,
   * and of the run. The previous release stored only the latter.
   */
  idempotency?: string | string[];
  fingerprint?: string;
}

/** The contacts of a chunk: written when the broadcast is created, deleted when it has ended. */
export interface ContactChunk {
  _id: string;
  /** The internal id. */
  broadcast_id: number;
  /** JSON array: a tenth of the cost of storing and reading an array of documents. */
  recipients: string;
  /** JSON array in the same order; null when no contact has params. */
  params: string | null;
}

/**
 * The states of a chunk's contacts. Always replaced as a whole, so that states and counters agree.
 */
export interface ChunkProgress {
  /** A letter for each contact; see contact-state.ts. */
  states: string;
  tally: Tally;
  failures: Failure[];
  /**
   * Contacts in flight whose sends messaging claims before they go out, so that their outcome can
   * be settled. A release without claims drops it with its next write: their outcome is then
   * unknown.
   */
  claimed?: number[];
  /** No contact waits and none is in flight. */
  done: boolean;
  /** Incremented by every change. */
  rev: number;
  /** Random id of the write that made this revision, so that its author recognises it. */
  writer: string;
}

/** The owner of these contacts, and the number that they are sent from. */
export interface ChunkOwner {
  partner_id: string;
  phone_number_id: string;
}

export interface Chunk {
  _id: string;
  /** The internal id. */
  broadcast_id: number;
  salt: string;
  /** Absent in the database if an earlier release stored it: then it is read from the broadcast. */
  owner?: ChunkOwner;
  progress: ChunkProgress;
  /**
   * Incremented by every claim: changes by an earlier owner carry an older fence and are refused.
   */
  fence: number;
  worker: string | null;
  lease_until: Date;
}

export interface Contact {
  /** Digits of a phone number, or a BSUID. */
  recipient: string;
  params: Params | null;
}

/** A string, or a whole upstream parameter such as {type: 'currency', currency: {...}}. */
export type Param = string | Record<string, unknown>;

/** Each parameter under the number or the name of its variable in the template. */
export type Params = Record<string, Param>;

export const isBsuid = (recipient: string): boolean => parseBsuid(recipient) !== null;
