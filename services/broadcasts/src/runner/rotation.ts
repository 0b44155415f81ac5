// The active broadcasts of one number on one worker. They take turns contact by contact, so that a
// large broadcast does not delay a small one.
import type { Broadcast } from '../ground/types';
import { ActiveBroadcast, type ContactSend } from './active-broadcast';

/** Broadcasts of one number that take turns; later ones wait until one of these has ended. */
export const TURNS_MAX = 32;

export class Rotation {
  /** In the order of their turns, the next one first. */
  private readonly broadcasts = new Map<number, ActiveBroadcast>();

  /** Takes over the stored active broadcasts, oldest first; returns true if one of them is new. */
  update(stored: Broadcast[]): boolean {
    const active = new Set(stored.map(({ _id }) => _id));
    for (const broadcast of this.broadcasts.values()) broadcast.ended ||= !active.has(broadcast.id);
    let added = false;
    for (const one of stored) {
      const known = this.broadcasts.get(one._id);
      if (known) {
        known.stop ??= one.stop;
        known.started ||= one.status === 'processing';
      } else {
        this.broadcasts.set(one._id, new ActiveBroadcast(one));
        added = true;
      }
    }
    return added;
  }

  all(): ActiveBroadcast[] {
    return [...this.broadcasts.values()];
  }

  isEmpty(): boolean {
    return this.broadcasts.size === 0;
  }

  remove({ id }: ActiveBroadcast): void {
    this.broadcasts.delete(id);
  }

  readyCount(): number {
    const now = Date.now();
    return this.all().reduce((sum, broadcast) => sum + broadcast.readyCount(now), 0);
  }

  inFlightCount(): number {
    return this.all().reduce((sum, broadcast) => sum + broadcast.inFlightCount(), 0);
  }

  /** Messages per second that the number takes; undefined until the directory has answered. */
  limitPerSec(): number | undefined {
    let limit: number | undefined;
    for (const { limit_per_sec } of this.broadcasts.values()) {
      if (limit_per_sec !== undefined) limit = Math.min(limit ?? limit_per_sec, limit_per_sec);
    }
    return limit;
  }

  /** The leases to renew. */
  leases(): Array<{ id: string; fence: number }> {
    return this.all().flatMap(({ chunks }) =>
      chunks.filter(({ leaseLost }) => !leaseLost).map(({ id, fence }) => ({ id, fence })),
    );
  }

  hasChunkToRemove(): boolean {
    return this.all().some(({ chunks }) =>
      chunks.some((chunk) => chunk.isDone() || chunk.leaseLost),
    );
  }

  /**
   * Takes up to `count` contacts, one broadcast after the other. `start` says whether one may send.
   */
  async take(
    count: number,
    start: (broadcast: ActiveBroadcast) => Promise<boolean>,
  ): Promise<ContactSend[]> {
    const sends: ContactSend[] = [];
    let turns: ActiveBroadcast[] = [];
    for (const broadcast of this.all()) {
      if (turns.length >= count) break;
      // The first message is about to leave: from here on the broadcast cannot be cancelled.
      if (broadcast.readyCount(Date.now()) > 0 && (await start(broadcast))) turns.push(broadcast);
    }
    this.moveToEnd(turns);
    while (sends.length < count && turns.length > 0) {
      const next: ActiveBroadcast[] = [];
      for (const broadcast of turns.slice(0, count - sends.length)) {
        const send = broadcast.readyCount(Date.now()) > 0 ? broadcast.takeNext() : undefined;
        if (!send) continue;
        sends.push(send);
        next.push(broadcast);
      }
      turns = next;
    }
    return sends;
  }

  private moveToEnd(served: ActiveBroadcast[]): void {
    for (const broadcast of served) {
      this.broadcasts.delete(broadcast.id);
      this.broadcasts.set(broadcast.id, broadcast);
    }
  }
}
