// One phone number on one worker. Two loops run until the lane is stopped: one sends the number's
// broadcasts in turns at the pace that all workers share, the other keeps each broadcast supplied
// with claimed contacts and completes it.
import { createPoller, pause, type Poller } from '@bmg/common/lifecycle';
import type { Broadcast } from '../ground/types';
import { BatchSender } from './batch-sender';
import { BroadcastKeeper } from './broadcast-keeper';
import { ContactSender } from './contact-sender';
import type { RunnerDependencies } from './dependencies';
import { OutcomeRecorder } from './outcome-recorder';
import { Rotation } from './rotation';
import { SendBackoff } from './send-backoff';

const SEND_IDLE_MS = 500;
const KEEP_EVERY_MS = 250;
/** The two loops wake each other: this pause keeps them from spinning. */
const KEEP_PAUSE_MS = 20;
const IN_FLIGHT_CHECK_MS = 20;

export class NumberLane {
  private readonly rotation = new Rotation();
  private readonly backoff = new SendBackoff();
  private readonly keeper: BroadcastKeeper;
  private readonly recorder: OutcomeRecorder;
  private readonly batches: BatchSender;
  private readonly sendLoop: Poller;
  private readonly keepLoop: Poller;
  private keptAt = 0;

  constructor(
    phone_number_id: string,
    private readonly deps: RunnerDependencies,
    worker: string,
  ) {
    const events = {
      unreachable: () => this.backoff.start(),
      storeUnavailable: () => this.backoff.start(),
      answered: () => this.backoff.reset(),
      broadcastStopped: () => this.keepLoop.wake(),
      contactsChanged: () => this.contactsChanged(),
    };
    this.keeper = new BroadcastKeeper(deps, worker);
    this.recorder = new OutcomeRecorder(deps, events);
    this.batches = new BatchSender(phone_number_id, deps, {
      rotation: this.rotation,
      backoff: this.backoff,
      keeper: this.keeper,
      recorder: this.recorder,
      sender: new ContactSender(deps, this.recorder, events),
      runningLow: () => this.keepLoop.wake(),
    });
    this.sendLoop = createPoller(
      `send ${phone_number_id}`,
      SEND_IDLE_MS,
      (signal) => this.batches.sendBatch(signal),
      deps.log,
    );
    this.keepLoop = createPoller(
      `keep ${phone_number_id}`,
      KEEP_EVERY_MS,
      (signal) => this.keep(signal),
      deps.log,
    );
  }

  async start(signal: AbortSignal): Promise<void> {
    await this.keepLoop.start(signal);
    await this.sendLoop.start(signal);
  }

  /** Sends nothing more, waits for the answers to sends in flight, and returns the leases. */
  async stop(): Promise<void> {
    this.batches.stop();
    await Promise.all([this.sendLoop.stop(), this.keepLoop.stop()]);
    // Contacts that have not departed wait again; they have no answers to wait for.
    const unmarked = this.recorder.unmark(await this.batches.close());
    const limit = Date.now() + this.deps.settings.stop_limit_ms;
    while (this.rotation.inFlightCount() > 0 && Date.now() < limit) await pause(IN_FLIGHT_CHECK_MS);
    // Does not wait for an unavailable store: contacts whose outcome it misses now count as in
    // doubt.
    this.recorder.stopRetrying();
    await unmarked;
    for (const broadcast of this.rotation.all()) await this.keeper.release(broadcast);
  }

  /** Takes over the number's active broadcasts as they are stored now, oldest first. */
  update(broadcasts: Broadcast[]): void {
    if (this.rotation.update(broadcasts)) this.keepLoop.wake();
  }

  isEmpty(): boolean {
    return this.rotation.isEmpty();
  }

  leases(): Array<{ id: string; fence: number }> {
    return this.rotation.leases();
  }

  private contactsChanged(): void {
    this.sendLoop.wake();
    if (this.rotation.hasChunkToRemove()) this.keepLoop.wake();
  }

  private async keep(signal: AbortSignal): Promise<void> {
    await pause(this.keptAt + KEEP_PAUSE_MS - Date.now(), signal);
    this.keptAt = Date.now();
    const ready = this.rotation.readyCount();
    for (const broadcast of this.rotation.all()) {
      if (await this.keeper.keep(broadcast)) this.rotation.remove(broadcast);
    }
    if (this.rotation.readyCount() > ready) this.sendLoop.wake();
  }
}
