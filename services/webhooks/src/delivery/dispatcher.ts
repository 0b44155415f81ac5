// Moves deliveries from Kafka to receivers. A delivery is in one of three places: in memory only,
// stored with the time of its next attempt, or done. Its Kafka offset is committed only in the last
// two. Deliveries of a slow or failing receiver are stored instead of waited for, so that they
// delay no other partner; the healthy path writes nothing per delivery.
import { topics, type Unsettled } from '@bmg/common/bus';
import { pause, type Component } from '@bmg/common/lifecycle';
import { metrics, type Logger } from '@bmg/common/telemetry';
import type { ReceiverEndpoint } from '@bmg/proto/onboarding';
import type { Delivery } from '@bmg/proto/stream';
import { postAttempt, type Attempt, type Outcome, type RecordAttempt, type Ways } from './attempt';
import { EndpointFanOut } from './endpoint-fan-out';
import { createLoading, holdIntake, ROOM_CHECK_MS, type Loading } from './intake';
import { receiverOf } from './lane';
import { Lanes } from './lanes';
import { createObserver, type Observer } from './observer';
import { OF_PARTNER_MAX, Overflow } from './overflow';
import { deliveryKey, receiverOfKey } from './receiver-key';
import { MaxRate } from './receiver-limits';
import { ReceiverSpeed } from './receiver-speed';
import type { Receiver, Receivers } from './receivers';
import { deliveryMachine } from './retry-schedule';
import type { Seen } from './seen';
import { endingOf, ENDINGS, type Ending } from './settle';
import {
  attemptFromMessage,
  attemptFromRow,
  rowOf,
  trackedMessage,
  trackedRow,
  type TrackedDelivery,
} from './tracked-delivery';
import { TICK_MS, Uncommitted, type StoreReason } from './uncommitted';
import type { AttemptRecord, Deliveries, WaitingDelivery } from './store';

export interface DispatcherDependencies extends Ways {
  deliveries: Deliveries;
  receivers: Receivers;
  seen: Seen;
  log: Logger;
  recordAttempt: RecordAttempt;
  /** The most attempts in flight: for one partner, and for all. */
  limits: { share: number; total: number };
}

/** The intake waits at most this long at a time for our own backlog; nearly always less. */
const CROWDED_WAIT_MAX_MS = 30_000;
/** The intake takes this many deliveries at a time, and waits for room in between. */
const INTAKE_MAX = 100;
const STOP_TIMEOUT_MS = 12_000;
/** The interval between ticks while no delivery is tracked, in ticks. */
const IDLE_TICKS = 10;
/** Delay after an attempt that could not be made or recorded. */
const RETRY_MS = 1_000;

export class Dispatcher implements Component {
  readonly name = 'dispatcher';
  private readonly lanes: Lanes<TrackedDelivery>;
  private readonly speed = new ReceiverSpeed();
  private readonly uncommitted: Uncommitted;
  private readonly overflow: Overflow;
  private readonly loading: Loading;
  private readonly observer: Observer;
  private readonly fanOut: EndpointFanOut;
  private readonly max_rate = new MaxRate();
  private readonly stopped = new AbortController();
  /** Kafka partitions assigned to this process. */
  private partitions = new Set<number>();
  private timer: NodeJS.Timeout | undefined;
  private stopping = false;
  private is_idle = false;

  constructor(private readonly deps: DispatcherDependencies) {
    const { deliveries, log, limits } = deps;
    const { signal } = this.stopped;
    const lanes = new Lanes<TrackedDelivery>(limits.share, limits.total);
    const trackRow = (row: WaitingDelivery): void => this.trackRow(row);
    this.lanes = lanes;
    this.uncommitted = new Uncommitted({
      isSlow: (receiver, now) =>
        this.speed.isSlow(receiver, lanes.useOf(receiver), now) ||
        this.max_rate.isLimiting(receiver, now),
      progresses: (receiver, now) => this.speed.progresses(receiver, now),
    });
    this.overflow = new Overflow({
      deliveries,
      log,
      signal,
      countOf: (receiver) => lanes.countOf(receiver),
      trackRow,
      releaseOffsets: (delivery) => this.settleOffsets(delivery, 'release'),
    });
    this.loading = createLoading(log, signal);
    this.observer = createObserver({
      deliveries,
      lanes,
      log,
      trackRow,
      overflows: (receiver) => this.overflow.has(receiver),
    });
    this.fanOut = new EndpointFanOut({
      ...deps,
      signal,
      track: (received, endpoint) => this.trackCopy(received, endpoint),
      tracked: () => this.startDueAttempts(),
    });
    metrics.deliveries_in_flight_limit.set(limits.total);
  }

  async start(): Promise<void> {
    this.tickAfter(0);
  }

  /** Ticks every TICK_MS while deliveries are tracked, and every IDLE_TICKS of these otherwise. */
  private tickAfter(ticks: number): void {
    clearTimeout(this.timer);
    this.is_idle = ticks > 1;
    const due_at = performance.now() + ticks * TICK_MS;
    this.timer = setTimeout(() => this.tick(ticks, performance.now() - due_at), ticks * TICK_MS);
  }

  private tick(ticks: number, late_ms: number): void {
    const now = Date.now();
    for (let tick = 0; tick < ticks; tick += 1) {
      this.speed.tick(late_ms, now);
      this.uncommitted.tick(now);
    }
    this.persistOverdue();
    this.refillOverflow();
    this.startDueAttempts();
    this.observer.tick([...this.partitions], ticks);
    const has_work =
      this.lanes.size > 0 || this.uncommitted.size > 0 || this.overflow.partners_count > 0;
    this.tickAfter(has_work ? 1 : IDLE_TICKS);
  }

  /** Called when a delivery is tracked. */
  private endIdling(): void {
    if (this.is_idle && !this.stopping) this.tickAfter(1);
  }

  /** Waits for the attempts in flight; waiting deliveries are still in Kafka or in the store. */
  async stop(): Promise<void> {
    this.stopping = true;
    const until = Date.now() + STOP_TIMEOUT_MS;
    while (this.lanes.in_flight > 0 && Date.now() < until) await pause(ROOM_CHECK_MS);
    clearTimeout(this.timer);
    this.stopped.abort();
    await this.deps.deliveries.drain();
  }

  /**
   * Takes a batch from Kafka, and forgets what it could not take. The promise holds the intake back
   * while memory is crowded.
   */
  async accept(batch: Unsettled<Delivery>[], heartbeat: () => Promise<void>): Promise<void> {
    const left = new Set(batch);
    try {
      await this.take(batch, left, heartbeat);
    } finally {
      // Kafka redelivers these, to this process or to the new owner of the partition.
      for (const received of left) received.forget();
    }
  }

  /** Removes each message from `left` as it is taken. */
  private async take(
    batch: Unsettled<Delivery>[],
    left: Set<Unsettled<Delivery>>,
    heartbeat: () => Promise<void>,
  ): Promise<void> {
    const { seen, receivers } = this.deps;
    await this.loading.waitUntilIdle(heartbeat);
    // Shares a round trip with the look-up of delivered events.
    for (const { message } of batch) receivers.lookAhead(message.partner_id);
    const delivered = await seen.hasEach(batch.map(({ message }) => message.event_id));
    for (const [index, received] of batch.entries()) {
      if (index % INTAKE_MAX === 0 && index > 0) {
        this.startDueAttempts();
        await this.waitForRoom(heartbeat);
        await this.loading.waitUntilIdle(heartbeat);
      }
      // Reassigned meanwhile: the new owner gets the rest.
      if (!this.partitions.has(received.partition)) return;
      left.delete(received);
      // Checked again: it may have been delivered while Redis answered.
      const own = this.fanOut.split(received);
      if (!own) continue;
      if (delivered[index] || seen.has(received.message.event_id)) own.done();
      else this.trackMessage(own, Date.now());
    }
    this.startDueAttempts();
    await this.waitForRoom(heartbeat);
  }

  /** Drops the deliveries of other partitions, and loads the stored ones of these. */
  assignPartitions(partitions: number[]): void {
    this.partitions = new Set(partitions);
    // Kafka redelivers the uncommitted ones, to this process or to the new owner of the partition.
    const removed = this.lanes.removeWhere(
      ({ partition }) => !this.partitions.has(partition),
      Date.now(),
    );
    for (const delivery of removed) this.settleOffsets(delivery, 'forget');
    void this.load((assigned) => this.overflow.load(assigned));
  }

  /** Reads the stored deliveries of all receivers of a partner again, after they were made due. */
  reloadPartner(partner_id: string): Promise<void> {
    return this.load((assigned) => this.overflow.refillAll(partner_id, assigned));
  }

  private async load(read: (partitions: number[]) => Promise<void>): Promise<void> {
    await this.loading.run(() => read([...this.partitions]));
    this.startDueAttempts();
  }

  /** Stops scheduling a delivery that a manual retry has delivered or given up. */
  untrack(event_id: string): void {
    const delivery = this.lanes.remove(event_id, Date.now());
    if (delivery) this.settleOffsets(delivery, 'release');
    this.startDueAttempts();
  }

  /** One of the copies of a message, for an endpoint or else the webhook URL. */
  private trackCopy(received: Unsettled<Delivery>, endpoint: ReceiverEndpoint | undefined): void {
    // Reassigned meanwhile: the new owner gets it.
    if (!this.partitions.has(received.partition)) received.forget();
    else this.trackMessage(received, Date.now(), endpoint);
  }

  private trackMessage(
    received: Unsettled<Delivery>,
    now: number,
    endpoint?: ReceiverEndpoint,
  ): void {
    const key = deliveryKey(received.message.event_id, endpoint?.endpoint_id);
    const tracked = this.lanes.get(key);
    if (tracked) {
      // Kafka redelivered it after a rebalance or a crash, or the upstream repeated itself.
      if (tracked.uncommitted) tracked.copies.push(received);
      else received.done();
      return;
    }
    this.endIdling();
    const delivery = trackedMessage(received, now, endpoint);
    const delay_ms = Math.max(0, now - received.message.received_at_ms);
    metrics.delivery_intake_delay.observe({}, delay_ms / 1_000, received.span);
    this.uncommitted.add(delivery);
    const receiver = receiverOf(delivery);
    if (this.overflow.has(receiver) && !this.overflow.takeProbe(receiver, now)) {
      this.overflow.persist(delivery);
    } else this.lanes.add(delivery, now);
  }

  private trackRow(row: WaitingDelivery): void {
    const tracked = this.lanes.get(row._id);
    if (!tracked) {
      this.endIdling();
      return this.lanes.add(trackedRow(row), Date.now());
    }
    if (tracked.uncommitted || this.lanes.isInFlight(tracked)) return;
    tracked.next_attempt_at = row.next_attempt_at?.getTime() ?? 0;
    this.lanes.reschedule(tracked, Date.now());
  }

  private startDueAttempts(): void {
    if (this.stopping) return;
    for (const delivery of this.lanes.startDue(Date.now())) void this.run(delivery);
    metrics.deliveries_in_flight.set(this.lanes.in_flight_at_urls);
  }

  /** Makes one attempt of a delivery that its lane has started, and does what its ending says. */
  private async run(delivery: TrackedDelivery): Promise<void> {
    try {
      // An earlier attempt has ended it if only the removal of its row has failed.
      const ending = delivery.ending ?? (await this.attempt(delivery));
      const change = this.changeRow(delivery, ending);
      // The healthy path waits for no write.
      if (change) await change;
      this.end(delivery, ending);
    } catch (error) {
      const { event_id } = delivery;
      this.speed.ended(receiverOf(delivery), delivery, Date.now(), false);
      this.deps.log.warn({ err: error, event_id }, ENDINGS.unsettled.log);
      metrics.deliveries_unsettled.inc();
      delivery.next_attempt_at = Date.now() + RETRY_MS;
      this.end(delivery, ENDINGS.unsettled);
    }
  }

  private async attempt(delivery: TrackedDelivery): Promise<Ending> {
    const { receivers, log, recordAttempt } = this.deps;
    const { partner_id, uncommitted } = delivery;
    const receiver = await receivers.of(partner_id, uncommitted?.span, this.stopped.signal);
    if (this.isPaced(delivery, receiver)) return ENDINGS.paced;
    const attempt = delivery.uncommitted
      ? attemptFromMessage(delivery, delivery.uncommitted)
      : await this.attemptOfRow(delivery);
    if (!attempt) return ENDINGS.gone;
    this.speed.started(receiverOf(delivery), delivery, Date.now());
    const outcome = await postAttempt(attempt, receiver, this.deps, log);
    recordAttempt(attempt, outcome, receiver);
    this.recordAnswer(delivery, outcome);
    const may_store =
      !delivery.uncommitted || delivery.has_row || this.partitions.has(delivery.partition);
    return endingOf(outcome, delivery.attempts, may_store, Date.now());
  }

  /** True if the endpoint's maximum rate leaves no room now: the delivery gets a later time. */
  private isPaced(delivery: TrackedDelivery, { endpoints }: Receiver): boolean {
    const { endpoint_id } = delivery;
    if (endpoint_id === undefined) return false;
    const endpoint = endpoints.find((one) => one.endpoint_id === endpoint_id);
    if (endpoint?.status !== 'active' || endpoint.max_per_second === 0) return false;
    const part = Math.max(1, this.partitions.size) / topics.delivery.partitions;
    return this.max_rate.delays(delivery, endpoint.max_per_second * part, Date.now());
  }

  /** Undefined if the row was removed or has failed, by a manual retry or after its retention. */
  private async attemptOfRow({
    event_id,
    attempts,
  }: TrackedDelivery): Promise<Attempt | undefined> {
    const row = await this.deps.deliveries.find(event_id);
    if (!row || !deliveryMachine.allows(row.status, 'scheduleRetry')) return undefined;
    return attemptFromRow(row, attempts + 1);
  }

  /** Takes the outcome of an attempt into what is known of its receiver. */
  private recordAnswer(delivery: TrackedDelivery, { result, posted }: Outcome): void {
    const receiver = receiverOf(delivery);
    const is_delivered = result === 'delivered';
    this.speed.ended(receiver, delivery, Date.now(), is_delivered);
    if (is_delivered) {
      this.uncommitted.recordDelivered();
      if (this.overflow.recordSuccess(receiver)) void this.expediteBacklog(receiver);
    } else if (result === 'refused' && posted) this.overflow.recordFailure(receiver);
  }

  /** Undefined if there is nothing to write. */
  private changeRow(delivery: TrackedDelivery, ending: Ending): Promise<void> | undefined {
    const { deliveries, seen } = this.deps;
    const { event_id, has_row } = delivery;
    if (ending.seen === 'first') seen.remember(event_id);
    if (ending.row === 'store') return this.storeAttempt(delivery, ending.record);
    if (ending.row === 'remove') delivery.ending = ending;
    return ending.row === 'remove' && has_row ? deliveries.remove(event_id) : undefined;
  }

  private async storeAttempt(delivery: TrackedDelivery, record: AttemptRecord): Promise<void> {
    const { deliveries } = this.deps;
    const { event_id, uncommitted } = delivery;
    // Inserts and updates, because the row may have been inserted while the attempt was in flight.
    const inserted = uncommitted && deliveries.put({ ...rowOf(delivery, uncommitted), ...record });
    delivery.has_row = true;
    await Promise.all([inserted, deliveries.update(event_id, record)]);
    if (inserted) metrics.deliveries_persisted.inc({ reason: 'refused' });
    delivery.attempts = record.attempts;
    delivery.next_attempt_at = record.next_attempt_at?.getTime() ?? 0;
  }

  /** Follows the change of the row: settles the offsets and the place in the lane. */
  private end(delivery: TrackedDelivery, { seen, offset, lane, share }: Ending): void {
    if (seen === 'last') this.deps.seen.remember(delivery.event_id);
    if (offset !== 'hold') this.settleOffsets(delivery, offset);
    if (lane === 'leave') this.lanes.complete(delivery, Date.now(), share);
    else this.lanes.retryLater(delivery, Date.now(), share);
    this.startDueAttempts();
  }

  /** Offsets are released, to be committed, once the delivery is stored or done. */
  private settleOffsets(delivery: TrackedDelivery, how: 'release' | 'forget'): void {
    if (delivery.uncommitted) this.uncommitted.remove(delivery);
    delivery.uncommitted = undefined;
    for (const received of delivery.copies.splice(0)) {
      if (how === 'release') received.done();
      else received.forget();
    }
  }

  /** The receiver has recovered: its whole backlog is due now, oldest first. */
  private async expediteBacklog(receiver: string): Promise<void> {
    try {
      await this.deps.deliveries.makeDue(receiverOfKey(receiver), new Date());
      await this.load((assigned) => this.overflow.refill(receiver, assigned));
    } catch (error) {
      this.deps.log.warn(
        { err: error, ...receiverOfKey(receiver) },
        'failed to expedite the backlog of a recovered receiver',
      );
    }
  }

  /** Stores the deliveries that have been in memory only for too long. */
  private persistOverdue(): void {
    const due = this.uncommitted.dueForPersisting(Date.now(), (one) => this.lanes.isBlocked(one));
    for (const [delivery, reason] of due) void this.persist(delivery, reason);
  }

  /** Its offset may be committed once it is stored; its place in the lane stays. */
  private async persist(delivery: TrackedDelivery, reason: StoreReason): Promise<void> {
    if (!delivery.uncommitted || delivery.persisting) return;
    const { event_id } = delivery;
    const receiver = receiverOf(delivery);
    delivery.persisting = true;
    delivery.has_row = true;
    try {
      await this.deps.deliveries.put(rowOf(delivery, delivery.uncommitted));
      metrics.deliveries_persisted.inc({ reason });
      // An attempt may have ended meanwhile: it removed the row through the same ordered writer.
      if (this.lanes.get(event_id) === delivery) this.settleOffsets(delivery, 'release');
      if (this.lanes.countOf(receiver) > OF_PARTNER_MAX) this.overflow.start(receiver);
    } catch {
      // The store is unreachable: the delivery stays in memory, and the next tick retries.
    } finally {
      delivery.persisting = false;
    }
  }

  private refillOverflow(): void {
    const receiver = this.loading.isBusy() ? undefined : this.overflow.nextWithRoom();
    if (receiver === undefined) return;
    void this.load((assigned) => this.overflow.refill(receiver, assigned));
  }

  /** Waits for room in memory, within limits that keep the process in its consumer group. */
  private async waitForRoom(heartbeat: () => Promise<void>): Promise<void> {
    const until = Date.now() + CROWDED_WAIT_MAX_MS;
    const isFull = (): boolean => {
      const now = Date.now();
      if (this.stopping) return false;
      if (this.fanOut.isFull()) return true;
      if (!this.uncommitted.isCrowded(now)) return false;
      return now <= until || this.uncommitted.isFull();
    };
    await holdIntake(isFull, heartbeat, this.stopped.signal);
  }
}
