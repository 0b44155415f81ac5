// A broadcast as one worker runs it: the chunks whose leases the worker holds, and which contact is
// next.
import { parseExact } from '@bmg/common/json';
import type { SendClaimedMessageRequest } from '@bmg/proto/messaging';
import { isBsuid, type Broadcast, type Stop } from '../ground/types';
import { requestId, numberOf } from '../ground/request-id';
import { createFiller, type Filler, type Json } from '../template';
import type { HeldChunk } from './held-chunk';

/** The send of one contact, from the moment it is taken from its chunk. */
export interface ContactSend {
  broadcast: ActiveBroadcast;
  chunk: HeldChunk;
  /** The contact's place in the chunk. */
  index: number;
}

export class ActiveBroadcast {
  /** In the order they were claimed. */
  readonly chunks: HeldChunk[] = [];
  /** Why the broadcast stopped; null while it may send. */
  stop: Stop | null;
  /** True once its stored status is `processing`. */
  started: boolean;
  /**
   * True once its stored status is neither `pending` nor `processing`, as after a pause: it sends
   * nothing, and its chunks are released. A broadcast that is resumed is run as a new one.
   */
  ended = false;
  /** Messages per second that the number takes; undefined until the directory has answered. */
  limit_per_sec: number | undefined;
  /** When the number's limit was last requested from the directory. */
  limit_read_at = 0;
  /** When the leases of its chunks were last read from the store. */
  chunks_read_at = 0;
  /** True while the outcomes of its contacts in doubt are requested. */
  is_settling = false;
  /** True when the last read left chunks that no worker holds. */
  has_unclaimed_chunks = true;
  private readonly filler: Filler;

  /** No contact was marked before this time. */
  readonly started_since: number;

  constructor(readonly stored: Broadcast) {
    this.started_since = stored.started_at?.getTime() ?? Date.now();
    this.stop = stored.stop;
    this.started = stored.status === 'processing';
    this.filler = createFiller(parseExact(stored.template_components) as Json[]);
  }

  /** The internal id. */
  get id(): number {
    return this.stored._id;
  }

  /** Names the broadcast in logs, as its partner knows it. */
  get logged(): { partner_id: string; broadcast_id: number } {
    return { partner_id: this.stored.partner_id, broadcast_id: numberOf(this.stored) };
  }

  readyCount(now: number): number {
    if (this.stop || this.ended) return 0;
    return this.chunks.reduce((sum, chunk) => sum + chunk.readyCount(now), 0);
  }

  inFlightCount(): number {
    return this.chunks.reduce((sum, { inFlight }) => sum + inFlight.size, 0);
  }

  /** Takes the next contact, from the chunk that was claimed first. */
  takeNext(): ContactSend | undefined {
    for (const chunk of this.chunks) {
      if (chunk.leaseLost) continue;
      const [index] = chunk.take(1);
      if (index !== undefined) return { broadcast: this, chunk, index };
    }
    return undefined;
  }

  removeChunk(chunk: HeldChunk): void {
    const at = this.chunks.indexOf(chunk);
    if (at >= 0) this.chunks.splice(at, 1);
  }

  /** The request to the messaging service for one contact: its next attempt. */
  request({ chunk, index }: ContactSend): SendClaimedMessageRequest {
    const { stored } = this;
    const { recipient, params } = chunk.contact(index);
    const components = this.filler.fill(params);
    return {
      target: {
        partner_id: stored.partner_id,
        waba_id: stored.waba_id,
        phone_number_id: stored.phone_number_id,
        // Left empty so that messaging reads the current version: a deleted client stops at once.
        directory_version: '',
      },
      recipient: isBsuid(recipient) ? { user_id: recipient } : { to: recipient },
      template: {
        name: stored.template_name,
        language: stored.template_language,
        ...(components.length > 0 && { components }),
      },
      request_id: requestId({ chunk_id: chunk.id, index, salt: chunk.salt }),
      attempt: chunk.nextAttempt(index),
    };
  }
}
