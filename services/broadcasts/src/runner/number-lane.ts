// One number on one worker: its broadcasts take turns, every message in a slot of the number's pace that all
// workers share. Two loops: one sends, one keeps the broadcasts supplied and tidy (keeper.ts).
import { createPoller, pause, type Poller } from '@bmg/common/lifecycle';
import { createLead, inFlightMax, windowOf } from '../pace/pace';
import type { Slots } from '../pace/redis-pace';
import type { Broadcast } from '../store/types';
import { createDepartures, type Departures } from './departures';
import type { RunnerDependencies } from './dependencies';
import { createKeeper, type Keeper } from './broadcast-keeper';
import { createSender, type Sender } from './contact-sender';
import { Work, type Flight } from './active-broadcast';

/** Broadcasts of one number that take turns; later ones wait for these. */
export const TURNS_MAX = 32;

const IDLE_MS = 500;
const KEEP_EVERY_MS = 250;
/** The two loops wake each other: this keeps them from spinning. */
const KEEP_PAUSE_MS = 20;
const PACE_AWAY_MS = 200;
const HOLD_FIRST_MS = 250;
const HOLD_MAX_MS = 5_000;
/** Batches that are being marked at a time. */
const MARKING_MAX = 3;
const LANDING_LOOK_MS = 20;
const PERCENT = 100;

export class Lane {
  private readonly works = new Map<number, Work>();
  private readonly keeper: Keeper;
  private readonly sender: Sender;
  private readonly departures: Departures;
  private readonly sending: Poller;
  private readonly keeping: Poller;
  private readonly lead = createLead();
  private readonly marking = new Set<Promise<void>>();
  private readonly stopping = new AbortController();
  private keptAt = 0;
  private holdUntil = 0;
  private holdMs = HOLD_FIRST_MS;

  constructor(
    readonly phone_number_id: string,
    private readonly deps: RunnerDependencies,
    worker: string,
  ) {
    this.keeper = createKeeper(deps, worker);
    this.sender = createSender(deps, {
      unreachable: () => this.hold(),
      storeAway: () => this.hold(),
      answered: () => (this.holdMs = HOLD_FIRST_MS),
      stopped: () => this.keeping.wake(),
      changed: () => this.changed(),
    });
    this.departures = createDepartures({
      share: deps.settings.share_percent / PERCENT,
      go: (flight) => {
        // A broadcast that has stopped meanwhile asks for nothing more; its contacts fail with the reason.
        if (flight.work.stop) void this.sender.unmark([flight]);
        else void this.sender.send(flight);
      },
      reserve: async (count) => {
        const rate = this.rate();
        return rate === undefined ? undefined : deps.pace.reserve(phone_number_id, rate, count, 0);
      },
    });
    const name = (what: string): string => `${what} ${phone_number_id}`;
    this.sending = createPoller(
      name('send'),
      IDLE_MS,
      (signal) => this.sendBatch(signal),
      deps.log,
    );
    this.keeping = createPoller(
      name('keep'),
      KEEP_EVERY_MS,
      (signal) => this.keep(signal),
      deps.log,
    );
  }

  async start(signal: AbortSignal): Promise<void> {
    await this.keeping.start(signal);
    await this.sending.start(signal);
  }

  /** Nothing further is sent; what is on its way is waited for and recorded. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await Promise.all([this.sending.stop(), this.keeping.stop()]);
    await Promise.all(this.marking);
    // Those that wait for their slot are given back: no answer is waited for that nobody was asked for.
    const given_back = this.sender.unmark(this.departures.close());
    const limit = Date.now() + this.deps.settings.landing_limit_ms;
    while (this.flying() > 0 && Date.now() < limit) await pause(LANDING_LOOK_MS);
    // A store that is away is not waited for: what it does not hear of now counts as in doubt.
    this.sender.giveUp();
    await given_back;
    for (const work of this.works.values()) await this.keeper.letGo(work);
  }

  /** The number's active broadcasts, the oldest first, as they are stored now. */
  offer(broadcasts: Broadcast[]): void {
    const offered = new Set(broadcasts.map(({ _id }) => _id));
    for (const work of this.works.values()) work.gone ||= !offered.has(work.id);
    for (const broadcast of broadcasts) {
      const known = this.works.get(broadcast._id);
      if (known) {
        known.stop ??= broadcast.stop;
        known.started ||= broadcast.status === 'processing';
      } else {
        this.works.set(broadcast._id, new Work(broadcast));
        this.keeping.wake();
      }
    }
  }

  isEmpty(): boolean {
    return this.works.size === 0;
  }

  /** The leases that are to be renewed. */
  leases(): Array<{ id: string; fence: number }> {
    return [...this.works.values()].flatMap(({ chunks }) =>
      chunks.filter(({ lost }) => !lost).map(({ id, fence }) => ({ id, fence })),
    );
  }

  private flying(): number {
    let flying = 0;
    for (const work of this.works.values()) flying += work.flying();
    return flying;
  }

  private hold(): void {
    const now = Date.now();
    // One outage fails many sends: it counts once.
    if (this.holdUntil > now) return;
    this.holdUntil = now + this.holdMs;
    this.holdMs = Math.min(HOLD_MAX_MS, this.holdMs * 2);
  }

  private changed(): void {
    this.sending.wake();
    for (const work of this.works.values()) {
      if (work.chunks.some((chunk) => chunk.finished() || chunk.lost)) return this.keeping.wake();
    }
  }

  private async keep(signal: AbortSignal): Promise<void> {
    await pause(this.keptAt + KEEP_PAUSE_MS - Date.now(), signal);
    this.keptAt = Date.now();
    const before = this.ready();
    for (const work of [...this.works.values()]) {
      if (await this.keeper.keep(work)) this.works.delete(work.id);
    }
    if (this.ready() > before) this.sending.wake();
  }

  private ready(): number {
    const now = Date.now();
    let ready = 0;
    for (const work of this.works.values()) ready += work.ready(now);
    return ready;
  }

  /** What broadcasts may use of the number's rate; undefined while it is not known. */
  private rate(): number | undefined {
    let limit: number | undefined;
    for (const { limit_per_sec } of this.works.values()) {
      if (limit_per_sec !== undefined) limit = Math.min(limit ?? limit_per_sec, limit_per_sec);
    }
    return limit === undefined ? undefined : (limit * this.deps.settings.share_percent) / PERCENT;
  }

  /** True when there may be more to send at once. */
  private async sendBatch(signal: AbortSignal): Promise<boolean> {
    const now = Date.now();
    if (this.holdUntil > now) {
      await pause(this.holdUntil - now, signal);
      return true;
    }
    const rate = this.rate();
    if (rate === undefined) return false;
    const room = inFlightMax(rate) - this.flying();
    const ready = this.ready();
    const window = windowOf(rate, this.lead.ms());
    if (ready < window) this.keeping.wake();
    const count = Math.min(window, ready, room);
    if (count <= 0) return false;

    const slots = await this.deps.pace.reserve(this.phone_number_id, rate, count, this.lead.ms());
    const first = performance.now() + (slots?.wait_ms ?? 0);
    if (!slots || slots.count === 0) {
      // Without the shared pace nothing is sent: an unpaced send could exceed the number's rate.
      await pause(slots?.wait_ms ?? PACE_AWAY_MS, signal);
      return true;
    }
    await this.dispatch(await this.pick(slots.count), slots, first);
    // The next batch is reserved and marked while this one goes out.
    const last = first + (slots.count - 1) * slots.interval_ms;
    await pause(last - 2 * this.lead.ms() - performance.now(), signal);
    return true;
  }

  /** Marks a batch in time for its first slot and sends it off; resolves at once unless several are at it. */
  private async dispatch(flights: Flight[], slots: Slots, first: number): Promise<void> {
    const running = this.mark(flights, slots, first)
      .catch((error: unknown) => {
        this.deps.log.error({ err: error }, 'a batch was not sent off');
        void this.sender.unmark(flights);
      })
      .finally(() => this.marking.delete(running));
    this.marking.add(running);
    if (this.marking.size >= MARKING_MAX) await Promise.race(this.marking);
  }

  private async mark(flights: Flight[], slots: Slots, first: number): Promise<void> {
    await pause(first - this.lead.ms() - performance.now(), this.stopping.signal);
    if (this.stopping.signal.aborted) {
      for (const { chunk, index } of flights) chunk.putBack(index);
      return;
    }
    const began = performance.now();
    const marked = await this.sender.mark(flights);
    this.lead.took(performance.now() - began);
    this.departures.add(marked, slots, first);
  }

  /** The broadcasts in turn, so that a large one holds up no small one. */
  private async pick(count: number): Promise<Flight[]> {
    const flights: Flight[] = [];
    let turns: Work[] = [];
    for (const work of [...this.works.values()]) {
      if (turns.length >= count) break;
      // The first message is about to go out: from here on a cancel comes too late.
      if (work.ready(Date.now()) > 0 && (await this.keeper.start(work))) turns.push(work);
    }
    this.goLast(turns);
    while (flights.length < count && turns.length > 0) {
      const next: Work[] = [];
      for (const work of turns.slice(0, count - flights.length)) {
        const flight = work.ready(Date.now()) > 0 ? work.next() : undefined;
        if (!flight) continue;
        flights.push(flight);
        next.push(work);
      }
      turns = next;
    }
    return flights;
  }

  /** Whoever has had a turn is behind the others the next time. */
  private goLast(served: Work[]): void {
    for (const work of served) {
      this.works.delete(work.id);
      this.works.set(work.id, work);
    }
  }
}
