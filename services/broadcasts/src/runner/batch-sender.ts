// Sends the contacts of one number in batches. A batch passes through three states: its pace slots
// are reserved, its contacts are marked shortly before the first slot, and each contact departs at
// its slot.
import { pause } from '@bmg/common/lifecycle';
import { broadcastRate, createLead, inFlightMax, windowOf, type Slots } from '../pace';
import type { ContactSend } from './active-broadcast';
import type { BroadcastKeeper } from './broadcast-keeper';
import type { ContactSender } from './contact-sender';
import { createDepartures, type Departures } from './departures';
import type { RunnerDependencies } from './dependencies';
import type { OutcomeRecorder } from './outcome-recorder';
import type { Rotation } from './rotation';
import type { SendBackoff } from './send-backoff';

interface BatchSenderParts {
  rotation: Rotation;
  keeper: Pick<BroadcastKeeper, 'start'>;
  recorder: OutcomeRecorder;
  sender: ContactSender;
  backoff: SendBackoff;
  /** Fewer contacts are claimed than the next batch could take. */
  runningLow: () => void;
}

const PACE_UNAVAILABLE_MS = 200;
/** Batches that are marked at the same time. */
const MARKING_MAX = 3;
const PERCENT = 100;

export class BatchSender {
  private readonly departures: Departures;
  private readonly lead = createLead();
  private readonly marking = new Set<Promise<void>>();
  private readonly stopping = new AbortController();

  constructor(
    private readonly phone_number_id: string,
    private readonly deps: RunnerDependencies,
    private readonly parts: BatchSenderParts,
  ) {
    this.departures = createDepartures({
      share: deps.settings.share_percent / PERCENT,
      depart: (send) => this.depart(send),
      reserve: async (count) => {
        const rate = this.rate();
        return rate === undefined ? undefined : deps.pace.reserve(phone_number_id, rate, count, 0);
      },
    });
  }

  /** Reserves and sends one batch; returns true when the next one may follow at once. */
  async sendBatch(signal: AbortSignal): Promise<boolean> {
    const { rotation, backoff, keeper, runningLow } = this.parts;
    const backoff_ms = backoff.remainingMs();
    if (backoff_ms > 0) {
      await pause(backoff_ms, signal);
      return true;
    }
    const rate = this.rate();
    if (rate === undefined) return false;
    const ready = rotation.readyCount();
    const window = windowOf(rate, this.lead.ms());
    if (ready < window) runningLow();
    const room = inFlightMax(rate) - rotation.inFlightCount();
    const count = Math.min(window, ready, room);
    if (count <= 0) return false;

    const { pace } = this.deps;
    const slots = await pace.reserve(this.phone_number_id, rate, count, this.lead.ms());
    const first = performance.now() + (slots?.wait_ms ?? 0);
    if (!slots || slots.count === 0) {
      // Nothing is sent without the shared pace: an unpaced send could exceed the number's rate.
      await pause(slots?.wait_ms ?? PACE_UNAVAILABLE_MS, signal);
      return true;
    }
    const sends = await rotation.take(slots.count, (broadcast) => keeper.start(broadcast));
    await this.startMarking(sends, slots, first);
    // Wakes up early, so that the next batch is reserved and marked while this one departs.
    const last = first + (slots.count - 1) * slots.interval_ms;
    await pause(last - 2 * this.lead.ms() - performance.now(), signal);
    return true;
  }

  /** Starts no further batch. Contacts of batches that are not marked yet are put back. */
  stop(): void {
    this.stopping.abort();
  }

  /**
   * After `stop` and after the loop has ended: stops departures and returns the contacts left over.
   */
  async close(): Promise<ContactSend[]> {
    await Promise.all(this.marking);
    return this.departures.close();
  }

  /**
   * Messages per second that broadcasts may use of the number; undefined until its limit is known.
   */
  private rate(): number | undefined {
    const limit = this.parts.rotation.limitPerSec();
    return limit === undefined ? undefined : broadcastRate(limit, this.deps.settings.share_percent);
  }

  private depart(send: ContactSend): void {
    // A broadcast that stopped or was paused in the meantime sends nothing: its contacts wait
    // again, or fail with the reason.
    const { stop, ended } = send.broadcast;
    if (stop || ended) void this.parts.recorder.unmark([send]);
    else void this.parts.sender.send(send);
  }

  /** Resolves at once, unless the maximum of batches is being marked already. */
  private async startMarking(sends: ContactSend[], slots: Slots, first: number): Promise<void> {
    const running = this.mark(sends, slots, first)
      .catch((error: unknown) => {
        this.deps.log.error({ err: error }, 'failed to send a batch');
        void this.parts.recorder.unmark(sends);
      })
      .finally(() => this.marking.delete(running));
    this.marking.add(running);
    if (this.marking.size >= MARKING_MAX) await Promise.race(this.marking);
  }

  private async mark(sends: ContactSend[], slots: Slots, first: number): Promise<void> {
    await pause(first - this.lead.ms() - performance.now(), this.stopping.signal);
    if (this.stopping.signal.aborted) {
      for (const { chunk, index } of sends) chunk.putBack(index);
      return;
    }
    const began = performance.now();
    const marked = await this.parts.recorder.mark(sends);
    this.lead.took(performance.now() - began);
    this.departures.add(marked, slots, first);
  }
}
