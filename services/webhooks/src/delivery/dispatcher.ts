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
import { MaxRate, type Feedback } from './receiver-limits';
import { ReceiverSpeed } from './receiver-speed';
import type { Receiver, Receivers } from './receivers';
import { deliveryMachine, nextDelayMs } from './retry-schedule';
import type { Seen } from './seen';
import {
  attemptFromMessage,
  attemptFromRow,
  RETENTION_MS,
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
      releaseOffsets: (delivery) => this.releaseOffsets(delivery),
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
    for (const delivery of removed) this.forget(delivery);
    void this.loading
      .run(() => this.overflow.load([...this.partitions]))
      .then(() => this.startDueAttempts());
  }

  /** Reads the stored deliveries of all receivers of a partner again, after they were made due. */
  async reloadPartner(partner_id: string): Promise<void> {
    await this.loading.run(() => this.overflow.refillAll(partner_id, [...this.partitions]));
    this.startDueAttempts();
  }

  private async reloadReceiver(receiver: string): Promise<void> {
    await this.loading.run(() => this.overflow.refill(receiver, [...this.partitions]));
    this.startDueAttempts();
  }

  /** Stops scheduling a delivery that a manual retry has delivered or given up. */
  untrack(event_id: string): void {
    const delivery = this.lanes.remove(event_id, Date.now());
    if (delivery) this.releaseOffsets(delivery);
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

  /** Makes one attempt of a delivery that its lane has started, and records the outcome. */
  private async run(delivery: TrackedDelivery): Promise<void> {
    const { receivers, log, recordAttempt } = this.deps;
    try {
      // Already done: only the removal of its row has failed.
      if (delivery.outcome) return await this.complete(delivery, delivery.outcome);
      const span = delivery.uncommitted?.span;
      const receiver = await receivers.of(delivery.partner_id, span, this.stopped.signal);
      if (this.waitsForPace(delivery, receiver)) return;
      const attempt = delivery.uncommitted
        ? attemptFromMessage(delivery, delivery.uncommitted)
        : await this.attemptOfRow(delivery);
      if (!attempt) return this.removeInFlight(delivery, 'none');
      this.speed.started(receiverOf(delivery), delivery, Date.now());
      const outcome = await postAttempt(attempt, receiver, this.deps, log);
      recordAttempt(attempt, outcome, receiver);
      const is_delivered = outcome.result === 'delivered';
      this.speed.ended(receiverOf(delivery), delivery, Date.now(), is_delivered);
      if (outcome.result === 'refused') await this.recordFailure(delivery, outcome);
      else await this.complete(delivery, outcome);
    } catch (error) {
      // The store or the directory is unreachable. No attempt is used up.
      this.speed.ended(receiverOf(delivery), delivery, Date.now(), false);
      log.warn({ err: error, event_id: delivery.event_id }, 'failed to attempt or record delivery');
      metrics.deliveries_unsettled.inc();
      delivery.next_attempt_at = Date.now() + RETRY_MS;
      this.lanes.retryLater(delivery, Date.now(), 'none');
      this.startDueAttempts();
    }
  }

  /** True if the maximum rate of the endpoint leaves no room now: the delivery gets a later time. */
  private waitsForPace(delivery: TrackedDelivery, { endpoints }: Receiver): boolean {
    const { endpoint_id } = delivery;
    if (endpoint_id === undefined) return false;
    const endpoint = endpoints.find((one) => one.endpoint_id === endpoint_id);
    if (endpoint?.status !== 'active' || endpoint.max_per_second === 0) return false;
    const now = Date.now();
    const part = Math.max(1, this.partitions.size) / topics.delivery.partitions;
    if (!this.max_rate.delays(delivery, endpoint.max_per_second * part, now)) return false;
    this.lanes.retryLater(delivery, now, 'none');
    this.startDueAttempts();
    return true;
  }

  /** Undefined if the row was removed or failed: a manual retry ended it, or its retention is over. */
  private async attemptOfRow({
    event_id,
    attempts,
  }: TrackedDelivery): Promise<Attempt | undefined> {
    const row = await this.deps.deliveries.find(event_id);
    if (!row || !deliveryMachine.allows(row.status, 'scheduleRetry')) return undefined;
    return attemptFromRow(row, attempts + 1);
  }

  /** The delivery was delivered, or dropped because the partner takes no events. */
  private async complete(delivery: TrackedDelivery, outcome: Outcome): Promise<void> {
    const { event_id } = delivery;
    const receiver = receiverOf(delivery);
    delivery.outcome = outcome;
    const is_delivered = outcome.result === 'delivered';
    if (is_delivered) {
      this.deps.seen.remember(event_id);
      this.uncommitted.recordDelivered();
      if (this.overflow.recordSuccess(receiver)) void this.expediteBacklog(receiver);
    }
    if (delivery.has_row) await this.deps.deliveries.remove(event_id);
    this.removeInFlight(delivery, is_delivered ? 'success' : 'none');
  }

  /** The receiver refused: stores the delivery with the time of its next attempt, or as failed. */
  private async recordFailure(delivery: TrackedDelivery, outcome: Outcome): Promise<void> {
    const { deliveries, seen } = this.deps;
    const { event_id, uncommitted } = delivery;
    if (outcome.posted) this.overflow.recordFailure(receiverOf(delivery));
    // Not stored if its partition was reassigned: Kafka redelivers the message to the new owner.
    if (uncommitted && !delivery.has_row && !this.partitions.has(delivery.partition)) {
      this.forget(delivery);
      return this.removeInFlight(delivery, 'none');
    }
    const attempts = delivery.attempts + 1;
    const delay_ms = nextDelayMs(attempts, outcome);
    const now = Date.now();
    const record = attemptRecord(attempts, outcome, delay_ms, now);
    // Inserts and updates, because the row may have been inserted while the attempt was in flight.
    const inserted = uncommitted && deliveries.put({ ...rowOf(delivery, uncommitted), ...record });
    delivery.has_row = true;
    await Promise.all([inserted, deliveries.update(event_id, record)]);
    if (inserted) metrics.deliveries_persisted.inc({ reason: 'refused' });
    // An upstream repetition of a failed delivery is no new event: it is in the failed list.
    if (delay_ms === undefined) seen.remember(event_id);
    delivery.attempts = attempts;
    delivery.next_attempt_at = now + (delay_ms ?? 0);
    const feedback = outcome.posted ? 'failure' : 'none';
    this.releaseOffsets(delivery);
    if (delay_ms === undefined) this.lanes.complete(delivery, now, feedback);
    else this.lanes.retryLater(delivery, now, feedback);
    this.startDueAttempts();
  }

  private removeInFlight(delivery: TrackedDelivery, feedback: Feedback): void {
    this.releaseOffsets(delivery);
    this.lanes.complete(delivery, Date.now(), feedback);
    this.startDueAttempts();
  }

  /** The delivery is stored or done, so its offsets may be committed. */
  private releaseOffsets(delivery: TrackedDelivery): void {
    for (const received of this.takeCopies(delivery)) received.done();
  }

  /** The partition was reassigned: Kafka redelivers the message. */
  private forget(delivery: TrackedDelivery): void {
    for (const received of this.takeCopies(delivery)) received.forget();
  }

  private takeCopies(delivery: TrackedDelivery): Unsettled<Delivery>[] {
    if (delivery.uncommitted) {
      this.uncommitted.remove(delivery);
      delivery.uncommitted = undefined;
    }
    return delivery.copies.splice(0);
  }

  /** The receiver has recovered: its whole backlog is due now, oldest first. */
  private async expediteBacklog(receiver: string): Promise<void> {
    try {
      await this.deps.deliveries.makeDue(receiverOfKey(receiver), new Date());
      await this.reloadReceiver(receiver);
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
      if (this.lanes.get(event_id) === delivery) this.releaseOffsets(delivery);
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
    void this.loading.run(() => this.overflow.refill(receiver, [...this.partitions]));
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

/**
 * The change of the row after a refused attempt; a `delay_ms` of undefined gives the delivery up.
 */
const attemptRecord = (
  attempts: number,
  outcome: Outcome,
  delay_ms: number | undefined,
  now: number,
): AttemptRecord => ({
  status: deliveryMachine.to(delay_ms === undefined ? 'giveUp' : 'scheduleRetry'),
  attempts,
  last_attempt_at: new Date(now),
  next_attempt_at: delay_ms === undefined ? null : new Date(now + delay_ms),
  last_http_status: outcome.http_status ?? null,
  last_error: outcome.error,
  ...(delay_ms === undefined && { expires_at: new Date(now + RETENTION_MS) }),
});
