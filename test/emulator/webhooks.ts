// Schedules the platform's webhooks: status updates that are due are batched per account, other
// changes are posted one by one. The poster delivers them.
import type { BehaviourHolder, Step } from './behaviour';
import type { EmulatorConfig } from './config';
import { titleOf } from './errors';
import { DueQueue, DueTimer, type Due } from './due-queue';
import { Poster, type PostResult } from './poster';
import { escapeNonAscii, serialise } from './signature';
import type { State } from './state';
import { statusValue, type DueStatus } from './statuses';
import type { Account, JsonObject, SentMessage } from './types';

const PENDING_MAX = 300_000;
/** Statuses in one webhook; the platform's own maximum is 1,000. */
const BATCH_MAX = 100;

interface PendingStatus extends Due {
  message: SentMessage;
  steps: Step[];
  index: number;
}

interface PendingTask extends Due {
  run: () => void;
}

interface Lane {
  account_id: string;
  due: DueStatus[];
  busy: boolean;
}

export class Webhooks {
  private readonly poster: Poster;
  private readonly statuses = new DueQueue<PendingStatus>();
  private readonly tasks = new DueQueue<PendingTask>();
  private readonly timer = new DueTimer(() => this.tick());
  private readonly lanes = new Map<string, Lane>();
  private held: Array<() => void> = [];
  private order = 0;
  private closed = false;

  constructor(
    config: EmulatorConfig,
    private readonly behaviour: BehaviourHolder,
    private readonly stateOf: () => State,
  ) {
    this.poster = new Poster(config, behaviour);
  }

  /** Plans the statuses of a send; each one is planned when its predecessor is due. */
  planStatuses(message: SentMessage, steps: Step[]): void {
    if (steps.length === 0) return;
    if (this.statuses.size >= PENDING_MAX) this.poster.counts.lost += steps.length;
    else this.pushStatus(message, steps, 0);
  }

  /** Runs a task later, such as the creation of a group or the review of a template. */
  later(delay_ms: number, run: () => void): void {
    if (this.tasks.size >= PENDING_MAX) return;
    this.order += 1;
    this.tasks.push({ due_at: Date.now() + delay_ms, order: this.order, run });
    this.arm();
  }

  /** Posts a change of an account, with retries, if the account is subscribed. */
  notify(account: Account, change: JsonObject, { timed = false } = {}): void {
    if (!account.subscribed || this.swallows()) return;
    const time = timed ? Math.floor(Date.now() / 1000) : undefined;
    const body = serialise(envelope(account.id, change, time));
    const send = (): void => void this.poster.deliver(body, 1);
    if (!this.behaviour.current.hold) send();
    else if (this.held.length >= PENDING_MAX) this.poster.counts.lost += 1;
    else this.held.push(send);
  }

  /**
   * Posts at once and returns the receiver's answer; `retry` retries a refused body in the
   * background.
   */
  postNow(body: JsonObject, options: { retry: boolean }): Promise<PostResult> {
    return this.poster.deliver(serialise(body), 1, options);
  }

  /** Posts once, whatever the answer. */
  post(body: JsonObject): Promise<PostResult> {
    return this.poster.post(escapeNonAscii(JSON.stringify(body)));
  }

  verify(url: string, verify_token: string): Promise<boolean> {
    return this.poster.verify(url, verify_token);
  }

  /** Posts the held webhooks. */
  release(): void {
    const waiting = this.held;
    this.held = [];
    for (const send of waiting) send();
    for (const lane of this.lanes.values()) this.pump(lane);
  }

  describe() {
    let waiting = 0;
    for (const lane of this.lanes.values()) waiting += lane.due.length;
    return {
      ...this.poster.counts,
      in_flight: this.poster.in_flight,
      planned: this.statuses.size + this.tasks.size,
      waiting,
      held: this.held.length,
      retrying: this.poster.retries_waiting,
    };
  }

  reset(): void {
    this.statuses.clear();
    this.tasks.clear();
    this.timer.clear();
    // A body in flight must find no further statuses when it is done.
    for (const lane of this.lanes.values()) lane.due = [];
    this.lanes.clear();
    this.held = [];
    this.poster.reset();
  }

  async close(): Promise<void> {
    this.closed = true;
    this.reset();
    await this.poster.close();
  }

  private pushStatus(message: SentMessage, steps: Step[], index: number): void {
    const { after_ms } = steps[index] as Step;
    this.order += 1;
    this.statuses.push({
      due_at: message.time + after_ms,
      order: this.order,
      message,
      steps,
      index,
    });
    this.arm();
  }

  /** Decides whether the next status or webhook is dropped, and counts it. */
  private swallows(): boolean {
    const { current, random } = this.behaviour;
    if (current.swallow === 0 || random() >= current.swallow) return false;
    this.poster.counts.lost += 1;
    return true;
  }

  private arm(): void {
    if (this.closed) return;
    this.timer.arm(
      Math.min(this.statuses.peek()?.due_at ?? Infinity, this.tasks.peek()?.due_at ?? Infinity),
    );
  }

  private tick(): void {
    const now = Date.now();
    const touched = new Set<Lane>();
    for (let due = this.statuses.peek(); due && due.due_at <= now; due = this.statuses.peek()) {
      this.statuses.pop();
      const lane = this.takeDue(due, now);
      if (lane) touched.add(lane);
    }
    for (let due = this.tasks.peek(); due && due.due_at <= now; due = this.tasks.peek()) {
      this.tasks.pop();
      due.run();
    }
    for (const lane of touched) this.pump(lane);
    this.arm();
  }

  private takeDue(due: PendingStatus, now: number): Lane | null {
    const { message, steps, index } = due;
    const step = steps[index] as Step;
    const description = step.code === undefined ? null : titleOf(step.code);
    message.history.push({ status: step.status, at: now, description });
    if (index + 1 < steps.length) this.pushStatus(message, steps, index + 1);
    const account = this.stateOf().accounts.get(message.waba_id);
    if (!account?.subscribed || this.swallows()) return null;
    let lane = this.lanes.get(account.id);
    if (!lane) {
      lane = { account_id: account.id, due: [], busy: false };
      this.lanes.set(account.id, lane);
    }
    if (lane.due.length >= PENDING_MAX) this.poster.counts.lost += 1;
    else lane.due.push({ message, step, at: now });
    return lane;
  }

  /**
   * One body of an account is in flight at a time, so that its statuses stay in order; statuses due
   * meanwhile go into the next body.
   */
  private pump(lane: Lane): void {
    const { current } = this.behaviour;
    if (lane.busy || lane.due.length === 0 || current.hold || this.closed) return;
    const batch = lane.due.splice(0, BATCH_MAX);
    const account = this.stateOf().accounts.get(lane.account_id);
    if (!account) return;
    lane.busy = true;
    void this.postBatch(account, batch).finally(() => {
      lane.busy = false;
      this.pump(lane);
    });
  }

  private async postBatch(account: Account, batch: DueStatus[]): Promise<void> {
    const by_number = new Map<string, DueStatus[]>();
    for (const item of batch) {
      const list = by_number.get(item.message.phone_number_id);
      if (list) list.push(item);
      else by_number.set(item.message.phone_number_id, [item]);
    }
    const changes: JsonObject[] = [];
    let count = 0;
    for (const [number_id, items] of by_number) {
      const number = this.stateOf().numbers.get(number_id);
      if (!number) continue;
      const value = statusValue(this.stateOf(), number, items, this.behaviour.current);
      changes.push({ field: 'messages', value });
      count += items.length;
    }
    if (count === 0) return;
    const body = { object: 'whatsapp_business_account', entry: [{ id: account.id, changes }] };
    await this.poster.deliver(serialise(body), count);
  }
}

/**
 * Webhooks of account, template and number-management fields have a time; those of messages do not.
 */
export function envelope(entry_id: string, change: JsonObject, time?: number): JsonObject {
  return {
    object: 'whatsapp_business_account',
    entry: [{ id: entry_id, ...(time !== undefined ? { time } : {}), changes: [change] }],
  };
}
