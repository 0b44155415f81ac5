// Moves deliveries from Kafka to receivers. A delivery is in one of three places, and its Kafka offset is
// committed only once it is in the last two: in flight, done, or stored with the time of its next attempt.
// A receiver that is slow or away has its further deliveries stored instead of waited for, so that it
// costs nobody else anything, and the healthy path writes nothing per delivery.
import type { Unsettled } from '@bmg/common/bus';
import { pause, type Component } from '@bmg/common/lifecycle';
import type { GuardedAgent } from '@bmg/common/outbound';
import { metrics, type Logger, type SpanContext } from '@bmg/common/telemetry';
import type { Delivery } from '@bmg/proto/stream';
import { attempt, type Outcome, type Posting } from './attempt';
import {
  freshEntry,
  freshPosting,
  KEPT_MS,
  rowOf,
  storedPosting,
  waitingEntry,
  type Entry,
} from './entry';
import { createFresh, TICK_MS } from './uncommitted';
import { createLanes, type Verdict } from './lanes';
import { createLoading } from './loading';
import { createObserver } from './observer';
import { createOverflow, OF_PARTNER_MAX } from './overflow';
import type { Receivers } from './receivers';
import { nextDelayMs } from './retry-schedule';
import type { Seen } from './seen';
import type { AttemptRecord, Deliveries, Waiting } from '../store/deliveries';

export interface Dispatcher extends Component {
  /** Takes a batch; the promise holds the intake back while too much is unsettled. */
  accept(batch: Unsettled<Delivery>[], heartbeat: () => Promise<void>): Promise<void>;
  /** These partitions are ours now: what waits in them is loaded, what waits in others forgotten. */
  assign(partitions: number[]): void;
  /** Rows of the partner were made due: look at them again. */
  reload(partner_id: string): Promise<void>;
  /** The event was settled elsewhere (a retry by hand). */
  forget(event_id: string): void;
}

export interface DispatcherDependencies {
  deliveries: Deliveries;
  receivers: Receivers;
  seen: Seen;
  agent: GuardedAgent;
  log: Logger;
  settings: { share: number; total: number };
}

const ROOM_CHECK_MS = 10;
/** A quick receiver with much to do holds the intake for this long at a time. */
const CROWDED_LIMIT_MS = 1_000;
const HEARTBEAT_EVERY_MS = 1_000;
const STOP_LIMIT_MS = 12_000;
const AGAIN_MS = 1_000;

export function createDispatcher(deps: DispatcherDependencies): Dispatcher {
  const { deliveries, receivers, seen, agent, log } = deps;
  const lanes = createLanes<Entry>(deps.settings.share, deps.settings.total);
  metrics.deliveries_in_flight_limit.set(deps.settings.total);
  const fresh = createFresh();
  let owned = new Set<number>();
  let timer: NodeJS.Timeout | undefined;
  let stopping = false;
  const stopped = new AbortController();
  const overflow = createOverflow({
    deliveries,
    log,
    signal: stopped.signal,
    countOf: lanes.countOf,
    add: addWaiting,
    letGo,
  });
  const loading = createLoading(log, stopped.signal);
  const observer = createObserver({
    deliveries,
    lanes,
    log,
    add: addWaiting,
    overflows: overflow.has,
  });

  /** The event is safe or over: its offsets may be committed. */
  function letGo(entry: Entry): void {
    if (entry.fresh) {
      fresh.remove(entry);
      entry.fresh = undefined;
    }
    for (const done of entry.done) done();
    entry.done = [];
  }
  function pump(): void {
    if (stopping) return;
    for (const entry of lanes.take(Date.now())) void run(entry);
    metrics.deliveries_in_flight.set(lanes.in_flight);
  }

  async function run(entry: Entry): Promise<void> {
    try {
      if (entry.delivered) return await over(entry, entry.delivered);
      const posting = entry.fresh ? freshPosting(entry, entry.fresh) : await stored(entry);
      // Settled elsewhere, or its time to live is over.
      if (!posting) return finish(entry, 'nothing');
      const span = posting.span ?? NO_SPAN;
      const receiver = await receivers.of(entry.partner_id, span, stopped.signal);
      const outcome = await attempt(posting, receiver, agent, log);
      if (outcome.result === 'refused') await refused(entry, outcome);
      else await over(entry, outcome);
    } catch (error) {
      // A store or the directory is away: the event stays where it is and is tried again.
      log.warn({ err: error, event_id: entry.event_id }, 'a delivery could not be settled yet');
      metrics.deliveries_unsettled.inc();
      entry.next_attempt_at = Date.now() + AGAIN_MS;
      lanes.settle(entry, true, Date.now());
      pump();
    }
  }
  async function stored(entry: Entry): Promise<Posting | undefined> {
    const row = await deliveries.find(entry.event_id);
    return row?.status === 'retrying' ? storedPosting(row, entry.attempts + 1) : undefined;
  }
  async function over(entry: Entry, outcome: Outcome): Promise<void> {
    entry.delivered = outcome;
    if (outcome.result === 'delivered') {
      seen.remember(entry.event_id);
      fresh.tookOne(entry.partner_id);
      if (overflow.isBack(entry.partner_id)) void recover(entry.partner_id);
    }
    if (entry.has_row) await deliveries.remove(entry.event_id);
    finish(entry, outcome.result === 'delivered' ? 'answers' : 'nothing');
  }
  function finish(entry: Entry, verdict: Verdict): void {
    letGo(entry);
    lanes.settle(entry, false, Date.now(), verdict);
    pump();
  }
  /** A receiver that is back need not wait for far attempts: what waits for it is due, oldest first. */
  async function recover(partner_id: string): Promise<void> {
    try {
      await deliveries.makeDue(partner_id, new Date());
      await loading.add(() => overflow.refill(partner_id, [...owned]));
      pump();
    } catch (error) {
      log.warn(
        { err: error, partner_id },
        'what waits for a receiver that is back keeps its times',
      );
    }
  }
  async function refused(entry: Entry, outcome: Outcome): Promise<void> {
    if (outcome.asked) overflow.refused(entry.partner_id);
    // Without its row: the partition's new owner has the message too, and settles it.
    if (entry.fresh && !entry.has_row && !owned.has(entry.partition))
      return finish(entry, 'nothing');
    const attempts = entry.attempts + 1;
    const delay = nextDelayMs(attempts, outcome);
    const now = Date.now();
    const record: AttemptRecord = {
      status: delay === undefined ? 'failed' : 'retrying',
      attempts,
      last_attempt_at: new Date(now),
      next_attempt_at: delay === undefined ? null : new Date(now + delay),
      last_http_status: outcome.http_status ?? null,
      last_error: outcome.error,
      ...(delay === undefined && { expires_at: new Date(now + KEPT_MS) }),
    };
    // The row may be there already, put aside while the attempt was under way: hence both.
    const put = entry.fresh && deliveries.put({ ...rowOf(entry, entry.fresh), ...record });
    entry.has_row = true;
    await Promise.all([put, deliveries.update(entry.event_id, record)]);
    // A repetition of what has failed is not a new event: it is in the failed list.
    if (delay === undefined) seen.remember(entry.event_id);
    entry.attempts = attempts;
    entry.next_attempt_at = now + (delay ?? 0);
    letGo(entry);
    lanes.settle(entry, delay !== undefined, now, outcome.asked ? 'fails' : 'nothing');
    pump();
  }
  /** Stores what waits, so that its offset may be committed; its place in the lane stays. */
  async function putAside(entry: Entry): Promise<void> {
    if (!entry.fresh || entry.storing) return;
    entry.storing = true;
    entry.has_row = true;
    try {
      await deliveries.put(rowOf(entry, entry.fresh));
      // An attempt may have ended meanwhile; it has removed the row, by way of the same writer.
      if (lanes.has(entry.event_id) === entry) letGo(entry);
      if (lanes.countOf(entry.partner_id) > OF_PARTNER_MAX) overflow.begin(entry.partner_id);
    } catch {
      // The store is away: the event stays in memory, and the next sweep tries again.
    } finally {
      entry.storing = false;
    }
  }
  function sweep(): void {
    for (const entry of fresh.toPutAside(Date.now(), lanes.isHeld)) void putAside(entry);
    const partner_id = loading.busy ? undefined : overflow.next();
    if (partner_id !== undefined) {
      void loading.add(() => overflow.refill(partner_id, [...owned]));
    }
    pump();
  }
  function addWaiting(row: Waiting): void {
    const known = lanes.has(row._id);
    if (!known) return lanes.add(waitingEntry(row), Date.now());
    if (known.fresh || lanes.isRunning(known)) return;
    known.next_attempt_at = row.next_attempt_at?.getTime() ?? 0;
    lanes.touch(known, Date.now());
  }
  function take(one: Unsettled<Delivery>, now: number): void {
    const waiting = lanes.has(one.message.event_id);
    if (waiting) {
      // Handed out again after a rebalance or a crash: one event, however often it comes.
      if (waiting.fresh) waiting.done.push(one.done);
      else one.done();
      return;
    }
    const entry = freshEntry(one, now);
    const delay_ms = Math.max(0, now - one.message.received_at_ms);
    metrics.delivery_intake_delay.observe({}, delay_ms / 1_000, one.span);
    fresh.add(entry);
    const { partner_id } = entry;
    if (overflow.has(partner_id) && !overflow.probes(partner_id, now)) overflow.store(entry);
    else lanes.add(entry, now);
  }
  /** Waits for room, within limits that keep the membership of the group. */
  async function roomFor(heartbeat: () => Promise<void>): Promise<void> {
    const since = Date.now();
    let beat = since;
    while (!stopping && fresh.crowded()) {
      const now = Date.now();
      if (now - since > CROWDED_LIMIT_MS && !fresh.full()) return;
      if (now - beat > HEARTBEAT_EVERY_MS) {
        await heartbeat();
        beat = now;
      }
      await pause(ROOM_CHECK_MS, stopped.signal);
    }
  }
  return {
    name: 'dispatcher',
    async accept(batch, heartbeat) {
      await loading.wait(heartbeat);
      const known = await seen.which(batch.map(({ message }) => message.event_id));
      const now = Date.now();
      for (const [index, one] of batch.entries()) {
        // Asked once more: it may have been delivered while the shared store answered.
        if (known[index] || seen.has(one.message.event_id)) one.done();
        else take(one, now);
      }
      pump();
      await roomFor(heartbeat);
    },
    assign(partitions) {
      owned = new Set(partitions);
      // Kafka hands the unsettled ones of our partitions out again; those of others are theirs now.
      const gone = lanes.forget((one) => !owned.has(one.partition), Date.now());
      for (const entry of gone) letGo(entry);
      void loading.add(() => overflow.load([...owned])).then(pump);
    },
    async reload(partner_id) {
      await loading.add(() => overflow.refill(partner_id, [...owned]));
      pump();
    },
    forget(event_id) {
      const entry = lanes.forgetOne(event_id, Date.now());
      if (entry) letGo(entry);
      pump();
    },
    async start() {
      const tick = (): void => {
        fresh.tick();
        sweep();
        observer.tick([...owned]);
        timer = setTimeout(tick, TICK_MS);
      };
      tick();
    },
    async stop() {
      stopping = true;
      const until = Date.now() + STOP_LIMIT_MS;
      // What is in flight ends; what waits is still in Kafka or in the store.
      while (lanes.in_flight > 0 && Date.now() < until) await pause(ROOM_CHECK_MS);
      clearTimeout(timer);
      stopped.abort();
      await deliveries.drain();
    },
  };
}

const NO_SPAN: SpanContext = { traceId: '', spanId: '', traceFlags: 0 };
