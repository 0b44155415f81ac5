// Records the state of contacts: marked before a send, the outcome after it, or waiting again.
// Outcomes are retried until the store takes them, because a lost one leaves a contact in doubt.
import { setMaxListeners } from 'node:events';
import { groupBy } from '@bmg/common/collections';
import { metrics } from '@bmg/common/telemetry';
import { maskPhone } from '@bmg/common/ids';
import { pause } from '@bmg/common/lifecycle';
import { stateAt, type Change } from '../ground/contact-state';
import type { Applied } from '../contact-states';
import type { ContactSend } from './active-broadcast';
import type { RunnerDependencies } from './dependencies';
import type { HeldChunk } from './held-chunk';

interface RecorderEvents {
  /** The store did not take a mark. */
  storeUnavailable(): void;
  /** A contact's outcome is recorded, or it waits again. */
  contactsChanged(): void;
}

const RECORD_RETRY_MS = 500;
/** An hour: an outage of the store that lasts longer loses the outcome. */
const RECORD_TRIES_MAX = 7_200;

export class OutcomeRecorder {
  private readonly stopping = new AbortController();

  constructor(
    private readonly deps: Pick<RunnerDependencies, 'stateWriter' | 'settings' | 'log'>,
    private readonly events: RecorderEvents,
  ) {
    // One listener for every outcome that is not recorded yet: as many as there are sends in
    // flight.
    setMaxListeners(0, this.stopping.signal);
  }

  /** Marks contacts as in flight; returns those that are durably marked. Only they may be sent. */
  async mark(sends: ContactSend[]): Promise<ContactSend[]> {
    const marked = await Promise.all(
      byChunk(sends).map(([chunk, list]) => this.markInChunk(chunk, list)),
    );
    const all = new Set(marked.flat());
    // Keeps the order in which the broadcasts take turns.
    return sends.filter((send) => all.has(send));
  }

  /** Records the outcome of a send; resolves once it is stored or given up. */
  async record({ chunk, index }: ContactSend, change: Omit<Change, 'index'>): Promise<void> {
    const applied = await this.retry(() =>
      this.deps.stateWriter.apply(chunk.id, [{ index, ...change }], { salt: chunk.salt }),
    );
    chunk.recorded(index, applied?.chunk?.progress.done ?? false);
    if (applied?.moved[0]) metrics.broadcast_sends.inc({ outcome: change.event });
    this.events.contactsChanged();
  }

  /** The contact failed with this code. */
  recordRefusal(send: ContactSend, code: string): Promise<void> {
    const example = maskPhone(send.chunk.contact(send.index).recipient);
    return this.record(send, { event: 'refuse', code, example });
  }

  /** Marked contacts that were not sent wait again, at the head of the queue. */
  async unmark(sends: ContactSend[]): Promise<void> {
    await Promise.all(
      byChunk(sends).map(([, list]) =>
        this.release(list, ({ chunk, index }) => chunk.putBack(index)),
      ),
    );
  }

  /** A marked contact that was not sent waits again until `due`. */
  postpone(send: ContactSend, due: number): Promise<void> {
    return this.release([send], ({ chunk, index }) => chunk.postpone(index, due));
  }

  /** Calls `store` until it succeeds; undefined when it was given up. */
  async retry<T>(store: () => Promise<T>): Promise<T | undefined> {
    const { log } = this.deps;
    for (let tries = 1; tries <= RECORD_TRIES_MAX; tries += 1) {
      try {
        return await store();
      } catch (error) {
        if (tries === 1) log.warn({ err: error }, 'failed to record an outcome, retrying');
        if (this.stopping.signal.aborted) break;
        await pause(RECORD_RETRY_MS, this.stopping.signal);
      }
    }
    log.error('gave up recording an outcome: its contact will count as outcome_unknown');
    return undefined;
  }

  /** Every outcome that is still not recorded is tried once more, then given up. */
  stopRetrying(): void {
    this.stopping.abort();
  }

  private async markInChunk(chunk: HeldChunk, sends: ContactSend[]): Promise<ContactSend[]> {
    let applied: Applied;
    try {
      applied = await this.deps.stateWriter.apply(
        chunk.id,
        sends.map(({ index }) => ({ index, event: 'mark' })),
        { fence: chunk.fence },
      );
    } catch (error) {
      // The mark may or may not be stored; in both cases nothing is sent now.
      this.deps.log.warn({ err: error, chunk: chunk.id }, 'failed to mark contacts');
      this.events.storeUnavailable();
      void this.unmark(sends);
      return [];
    }
    if (applied.refused || !applied.chunk) {
      chunk.leaseLost = true;
      for (const { index } of sends) chunk.inFlight.delete(index);
      return [];
    }
    const { states, done, claimed = [] } = applied.chunk.progress;
    for (const { index } of sends.filter((_, at) => !applied.moved[at])) {
      // In flight, but not by this mark: another owner may have sent it, so it is not sent again.
      const until = Date.now() + this.deps.settings.grace_ms;
      if (stateAt(states, index) !== 'in_flight') chunk.recorded(index, done);
      else chunk.markInDoubt(index, until, claimed.includes(index));
    }
    return sends.filter((_, at) => applied.moved[at]);
  }

  /** Stores that contacts of one chunk wait again. Only the holder of the lease may do so. */
  private async release(
    sends: ContactSend[],
    whenReleased: (send: ContactSend) => void,
  ): Promise<void> {
    const { chunk } = sends[0] as ContactSend;
    const applied = await this.retry(() =>
      this.deps.stateWriter.apply(
        chunk.id,
        sends.map(({ index }) => ({ index, event: 'release' })),
        { fence: chunk.fence },
      ),
    );
    const released = applied !== undefined && !applied.refused;
    for (const send of sends) {
      if (released) whenReleased(send);
      else chunk.inFlight.delete(send.index);
    }
    if (!released) chunk.leaseLost = true;
    this.events.contactsChanged();
  }
}

const byChunk = (sends: ContactSend[]): Array<[HeldChunk, ContactSend[]]> => [
  ...groupBy(sends, ({ chunk }) => chunk),
];
