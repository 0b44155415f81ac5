// What is stored. A broadcast is one document; its contacts lie in sealed chunks that are written once; what
// became of them lies in one small document a chunk, the only thing that a running broadcast rewrites.
import type { BroadcastStatus } from '../broadcast-machine';
import type { Failure, Tally } from '../ledger/contact-state';

/** Why a broadcast ended before all its contacts were tried. */
export interface Stop {
  code: string;
  message: string;
}

/** What the partner was told about it when it was created. */
export interface Warning {
  code: string;
  message: string;
}

export interface Broadcast {
  _id: number;
  partner_id: string;
  waba_id: string;
  phone_number_id: string;
  name: string;
  template_name: string;
  template_language: string;
  /** JSON text: keys of an upstream object may hold what a database key may not. */
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
  created_at: Date;
  stop: Stop | null;
  /** Whether its contacts are still stored. */
  has_contacts: boolean;
  /** Absent in those that an earlier release has stored. */
  warnings?: Warning[];
  /** `<partner>/<Idempotency-Key>` and what was asked under it. */
  idempotency?: string;
  fingerprint?: string;
}

/** The people of a chunk: sealed when the broadcast is created, removed when it has ended. */
export interface ContactChunk {
  _id: string;
  broadcast_id: number;
  /** JSON text of an array: a tenth of what an array of documents costs to store and read. */
  recipients: string;
  /** JSON text of an array beside it; null where no contact has any. */
  params: string | null;
}

/** What became of the people of a chunk: one value, replaced as a whole, so that nobody reads half of it. */
export interface ChunkProgress {
  /** A letter for each contact; see contact-state.ts. */
  states: string;
  tally: Tally;
  failures: Failure[];
  /** Nobody waits and nothing is in flight. */
  done: boolean;
  /** Goes up with every change. */
  rev: number;
  /** The write that made this revision, so that its own author knows it again. */
  writer: string;
}

export interface Chunk {
  _id: string;
  broadcast_id: number;
  salt: string;
  progress: ChunkProgress;
  /** Goes up with every claim: what an earlier owner still wants to do is told by it. */
  fence: number;
  worker: string | null;
  lease_until: Date;
}
