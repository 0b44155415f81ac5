// A chunk whose lease this worker holds: which contacts wait, are postponed, in flight or in doubt.
// Held in memory only. The store has the truth, and `refresh` brings this copy up to date with it.
import { indicesOf } from '../ground/contact-state';
import type { Contact, Chunk } from '../ground/types';

interface Postponed {
  index: number;
  due: number;
}

interface Doubt {
  /** A status event is awaited until then. */
  until: number;
  /** Messaging claims the send, and so can settle it. */
  claimed: boolean;
  /** The last request for its outcome, and the last one that messaging answered with `unknown`. */
  requested_at: number;
  unknown_at: number;
}

/** The attempts of one lease: those of a later lease have higher numbers. */
const ATTEMPTS_PER_LEASE = 1_000_000;
const SETTLE_EVERY_MS = 1_000;
/** If messaging cannot be reached, contacts in doubt wait this much longer for its answer. */
const SETTLE_WAIT_MAX_MS = 10 * 60_000;

export class HeldChunk {
  readonly id: string;
  readonly fence: number;
  readonly salt: string;
  /** Contacts that this worker has taken and whose outcome is not recorded yet. */
  readonly inFlight = new Set<number>();
  /** True once another worker has claimed the chunk. */
  leaseLost = false;
  /** When this copy was last brought up to date with the store. */
  refreshed_at = 0;
  private waiting: number[] = [];
  private postponed: Postponed[] = [];
  private readonly refusals = new Map<number, number>();
  /**
   * Contacts that may or may not have been sent: marked by an earlier owner of the lease, or sent
   * without an answer.
   */
  private readonly inDoubt = new Map<number, Doubt>();
  /** Attempts to send under this lease, by contact. */
  private readonly attempts = new Map<number, number>();
  /** True once no contact in the store waits or is in flight. */
  private done: boolean;

  constructor(
    chunk: Chunk,
    private readonly contacts: Contact[],
    now: number,
    grace_ms: number,
  ) {
    this.id = chunk._id;
    this.fence = chunk.fence;
    this.salt = chunk.salt;
    this.done = chunk.progress.done;
    this.refresh(chunk, now, grace_ms);
  }

  /** Has an empty recipient once the contacts are deleted: messaging refuses such a send. */
  contact(index: number): Contact {
    return this.contacts[index] ?? { recipient: '', params: null };
  }

  /** Takes over the stored states. Contacts that are in flight there count as in doubt here. */
  refresh(chunk: Chunk, now: number, grace_ms: number): void {
    this.done = chunk.progress.done;
    this.refreshed_at = now;
    if (this.inFlight.size > 0) return;
    const storedInFlight = indicesOf(chunk.progress.states, 'in_flight');
    const stillInFlight = new Set(storedInFlight);
    const claimed = new Set(chunk.progress.claimed ?? []);
    for (const index of this.inDoubt.keys()) {
      if (!stillInFlight.has(index)) this.inDoubt.delete(index);
    }
    for (const index of storedInFlight) {
      if (!this.inDoubt.has(index)) this.markInDoubt(index, now + grace_ms, claimed.has(index));
    }
    const postponed = new Set(this.postponed.map(({ index }) => index));
    this.waiting = indicesOf(chunk.progress.states, 'waiting').filter(
      (index) => !postponed.has(index),
    );
  }

  readyCount(now: number): number {
    if (this.leaseLost) return 0;
    this.queueDue(now);
    return this.waiting.length;
  }

  /** Takes contacts for sending. They are in flight from now on, before their mark is stored. */
  take(count: number): number[] {
    const taken = this.waiting.splice(0, count);
    for (const index of taken) this.inFlight.add(index);
    return taken;
  }

  /** Returns a contact that was not sent to the head of the queue. */
  putBack(index: number): void {
    this.inFlight.delete(index);
    this.waiting.unshift(index);
  }

  clearWaiting(): void {
    this.waiting = [];
    this.postponed = [];
  }

  /** Counts one more refused send of the contact; returns how many there are now. */
  countRefusal(index: number): number {
    const refusals = (this.refusals.get(index) ?? 0) + 1;
    this.refusals.set(index, refusals);
    return refusals;
  }

  /** The contact waits until `due`, then joins the end of the queue. */
  postpone(index: number, due: number): void {
    this.inFlight.delete(index);
    this.postponed.push({ index, due });
  }

  nextAttempt(index: number): number {
    this.attempts.set(index, (this.attempts.get(index) ?? 0) + 1);
    return this.lastAttempt(index);
  }

  /** No attempt of this lease, or of an earlier one, has a higher number. */
  lastAttempt(index: number): number {
    return this.fence * ATTEMPTS_PER_LEASE + (this.attempts.get(index) ?? 0);
  }

  /** The contact may or may not have been sent; a status event is awaited until then. */
  markInDoubt(index: number, until: number, claimed: boolean): void {
    this.inFlight.delete(index);
    this.inDoubt.set(index, { until, claimed, requested_at: -Infinity, unknown_at: -Infinity });
  }

  /** The contacts in doubt whose outcome is due to be requested from messaging. */
  takeToSettle(now: number): number[] {
    if (this.leaseLost) return [];
    const due = [...this.inDoubt].filter(
      ([, { claimed, requested_at }]) => claimed && requested_at + SETTLE_EVERY_MS <= now,
    );
    for (const [, doubt] of due) doubt.requested_at = now;
    return due.map(([index]) => index);
  }

  /** Messaging does not know yet whether the contact was sent. */
  stillUnknown(index: number, now: number): void {
    const doubt = this.inDoubt.get(index);
    if (doubt) doubt.unknown_at = now;
  }

  /** The contact in doubt is stored as waiting again: it joins the head of the queue, once. */
  requeue(index: number): void {
    this.inDoubt.delete(index);
    const isQueued =
      this.inFlight.has(index) ||
      this.waiting.includes(index) ||
      this.postponed.some((one) => one.index === index);
    if (!isQueued) this.waiting.unshift(index);
  }

  /** The contact's outcome is recorded; `done` is the stored state of the whole chunk. */
  recorded(index: number, done: boolean): void {
    this.inFlight.delete(index);
    this.inDoubt.delete(index);
    this.done = done;
  }

  /**
   * Removes and returns the contacts in doubt whose waiting time has passed. If messaging can
   * settle a send, it must have answered after that time, or have been unreachable for long.
   */
  takeExpired(now: number): number[] {
    const isExpired = ({ until, claimed, unknown_at }: Doubt): boolean =>
      until <= now && (!claimed || unknown_at >= until || until + SETTLE_WAIT_MAX_MS <= now);
    const expired = [...this.inDoubt]
      .filter(([, doubt]) => isExpired(doubt))
      .map(([index]) => index);
    for (const index of expired) this.inDoubt.delete(index);
    return expired;
  }

  hasDoubtful(): boolean {
    return this.inDoubt.size > 0;
  }

  /** This worker has nothing left to send; whether the chunk is done in the store is unknown. */
  isIdle(): boolean {
    if (this.leaseLost) return true;
    return this.waiting.length === 0 && this.postponed.length === 0 && this.inFlight.size === 0;
  }

  isDone(): boolean {
    return this.done && this.inFlight.size === 0;
  }

  private queueDue(now: number): void {
    if (this.postponed.length === 0) return;
    const due = this.postponed.filter((one) => one.due <= now);
    if (due.length === 0) return;
    this.postponed = this.postponed.filter((one) => one.due > now);
    this.waiting.push(...due.map(({ index }) => index));
  }
}
