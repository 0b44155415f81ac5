// One broadcast on one worker: what its messages are made of, and the chunks that are held of it.
import type { SendBroadcastMessageRequest } from '@bmg/proto/messaging';
import { isBsuid } from '../create/contacts';
import { requestId } from '../request-id';
import type { Broadcast, Stop } from '../store/types';
import { createFiller, type Filler, type Json } from '../template/params';
import type { HeldChunk } from './held-chunk';

/** One contact on its way. */
export interface Flight {
  work: Work;
  chunk: HeldChunk;
  index: number;
}

export class Work {
  readonly chunks: HeldChunk[] = [];
  /** Set once the broadcast may not go on. */
  stop: Stop | null;
  started: boolean;
  /** What the number takes in a second; undefined until it was asked for. */
  limit_per_sec: number | undefined;
  /** When it was last asked for, and when its chunks were last looked at. */
  asked_at = 0;
  looked_at = 0;
  /** The last look left chunks that nobody holds. */
  more = true;
  /** It is no longer active: what is held of it is given up. */
  gone = false;
  private readonly filler: Filler;

  constructor(readonly broadcast: Broadcast) {
    this.stop = broadcast.stop;
    this.started = broadcast.status === 'processing';
    this.filler = createFiller(JSON.parse(broadcast.template_components) as Json[]);
  }

  get id(): number {
    return this.broadcast._id;
  }

  /** How many contacts could go now. */
  ready(now: number): number {
    if (this.stop || this.gone) return 0;
    return this.chunks.reduce((sum, chunk) => sum + chunk.ready(now), 0);
  }

  /** The next contact, of the chunk that was claimed first. */
  next(): Flight | undefined {
    for (const chunk of this.chunks) {
      if (chunk.lost) continue;
      const [index] = chunk.take(1);
      if (index !== undefined) return { work: this, chunk, index };
    }
    return undefined;
  }

  drop(chunk: HeldChunk): void {
    const at = this.chunks.indexOf(chunk);
    if (at >= 0) this.chunks.splice(at, 1);
  }

  flying(): number {
    return this.chunks.reduce((sum, { flying }) => sum + flying.size, 0);
  }

  request(chunk: HeldChunk, index: number): SendBroadcastMessageRequest {
    const { broadcast } = this;
    const { recipient, params } = chunk.contact(index);
    const components = this.filler.fill(params);
    return {
      target: {
        partner_id: broadcast.partner_id,
        waba_id: broadcast.waba_id,
        phone_number_id: broadcast.phone_number_id,
        // None is known here: the messaging service asks for the present one, so that a deletion stops at once.
        directory_version: '',
      },
      recipient: isBsuid(recipient) ? { user_id: recipient } : { to: recipient },
      template: {
        name: broadcast.template_name,
        language: broadcast.template_language,
        ...(components.length > 0 && { components }),
      },
      request_id: requestId({ chunk_id: chunk.id, index, salt: chunk.salt }),
    };
  }
}
