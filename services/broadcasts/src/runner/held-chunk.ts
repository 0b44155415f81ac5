// A chunk that this worker holds the lease of: who is next, who waits for another try, who is in flight.
// Memory alone; the truth is in the store, and `look` brings the two together again.
import { indicesOf } from '../ledger/contact-state';
import type { Contact } from '../create/contacts';
import type { Chunk } from '../store/types';

interface Later {
  index: number;
  due: number;
}

export class HeldChunk {
  readonly id: string;
  readonly fence: number;
  readonly salt: string;
  /** Sends of this worker whose outcome is not recorded yet. */
  readonly flying = new Set<number>();
  /** Another worker has taken over. */
  lost = false;
  /** When the stored chunk was last compared with this one. */
  looked_at = 0;
  private queue: number[] = [];
  private later: Later[] = [];
  private readonly tries = new Map<number, number>();
  /** In flight under an owner that is gone, or without an answer: until when a status event is waited for. */
  private readonly graced = new Map<number, number>();
  private done: boolean;

  constructor(
    chunk: Chunk,
    private readonly people: Contact[],
    now: number,
    grace_ms: number,
  ) {
    this.id = chunk._id;
    this.fence = chunk.fence;
    this.salt = chunk.salt;
    this.done = chunk.progress.done;
    this.look(chunk, now, grace_ms);
  }

  /** Nobody where the contacts are not stored any more: such a send is refused before it leaves. */
  contact(index: number): Contact {
    return this.people[index] ?? { recipient: '', params: null };
  }

  /** Takes in how the chunk is stored: who waits there waits here, who is in flight there is graced here. */
  look(chunk: Chunk, now: number, grace_ms: number): void {
    this.done = chunk.progress.done;
    this.looked_at = now;
    if (this.flying.size > 0) return;
    const inFlight = indicesOf(chunk.progress.states, 'in_flight');
    const still = new Set(inFlight);
    for (const index of this.graced.keys()) if (!still.has(index)) this.graced.delete(index);
    for (const index of inFlight) if (!this.graced.has(index)) this.grace(index, now + grace_ms);
    const waiting = indicesOf(chunk.progress.states, 'waiting');
    const postponed = new Set(this.later.map(({ index }) => index));
    this.queue = waiting.filter((index) => !postponed.has(index));
  }

  /** How many could go now. */
  ready(now: number): number {
    if (this.lost) return 0;
    this.promote(now);
    return this.queue.length;
  }

  /** They are flying from now on, whatever is written of them and when. */
  take(count: number): number[] {
    const taken = this.queue.splice(0, count);
    for (const index of taken) this.flying.add(index);
    return taken;
  }

  /** Not sent after all. */
  putBack(index: number): void {
    this.flying.delete(index);
    this.queue.unshift(index);
  }

  /** Nobody of those who wait here will be sent anything. */
  clear(): void {
    this.queue = [];
    this.later = [];
  }

  /** Counts a try that was refused. */
  tried(index: number): number {
    const tries = (this.tries.get(index) ?? 0) + 1;
    this.tries.set(index, tries);
    return tries;
  }

  postpone(index: number, due: number): void {
    this.flying.delete(index);
    this.later.push({ index, due });
  }

  grace(index: number, until: number): void {
    this.flying.delete(index);
    this.graced.set(index, until);
  }

  /** Its outcome is recorded. */
  landed(index: number, done: boolean): void {
    this.flying.delete(index);
    this.done = done;
  }

  /** Those that were waited for long enough; they are forgotten here. */
  expired(now: number): number[] {
    const over = [...this.graced].filter(([, until]) => until <= now).map(([index]) => index);
    for (const index of over) this.graced.delete(index);
    return over;
  }

  /** When something falls due here by itself. */
  nextDue(): number | undefined {
    const times = [...this.later.map(({ due }) => due), ...this.graced.values()];
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** Nothing is left to do for this worker; whether the chunk is done in the store is another question. */
  idle(): boolean {
    return (
      this.lost || (this.queue.length === 0 && this.later.length === 0 && this.flying.size === 0)
    );
  }

  waitsForEvents(): boolean {
    return this.graced.size > 0;
  }

  finished(): boolean {
    return this.done && this.flying.size === 0;
  }

  private promote(now: number): void {
    if (this.later.length === 0) return;
    const due = this.later.filter((one) => one.due <= now);
    if (due.length === 0) return;
    this.later = this.later.filter((one) => one.due > now);
    this.queue.push(...due.map(({ index }) => index));
  }
}
