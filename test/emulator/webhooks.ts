// Schedules the platform's webhooks: status updates that are due are batched per account, other
// changes are posted one by one. The poster delivers them.
import type { BehaviourHolder, Step } from './behaviour';
import type { EmulatorConfig } from './config';
import { titleOf } from './errors';
import { Poster, type PostResult } from './poster';
import { escapeNonAscii, serialise } from './signature';
import type { State } from './state';
import { statusValue, type DueStatus } from './statuses';
import { Timers } from './timers';
import type { Account, JsonObject, SentMessage } from './types';

const PENDING_MAX = 300_000;
/** Statuses in one webhook; the platform's own maximum is 1,000. */
const BATCH_MAX = 100;

interface Lane {
  account_id: string;
  due: DueStatus[];
  busy: boolean;
}

export class Webhooks {
  private readonly poster: Poster;
  private readonly timers = new Timers();
  private readonly lanes = new Map<string, Lane>();
  private held: Array<() => void> = [];
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
    if (this.timers.size >= PENDING_MAX) this.poster.counts.lost += steps.length;
    else this.planNext(message, steps);
  }

  /** Runs a task later, such as the creation of a group or the review of a template. */
  later(delay_ms: number, run: () => void): void {
    if (this.timers.size < PENDING_MAX) this.timers.after(delay_ms, run);
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

  /** Posts at once and returns the receiver's answer; `retry` retries a refused body. */
  postNow(body: JsonObject, retry = true): Promise<PostResult> {
    return this.poster.deliver(serialise(body), 1, retry);
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
      planned: this.timers.size,
      waiting,
      held: this.held.length,
      retrying: this.poster.retries_waiting,
    };
  }

  reset(): void {
    this.timers.clear();
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

  private planNext(message: SentMessage, [step, ...rest]: Step[]): void {
    if (!step) return;
    const due_at = message.time + step.after_ms;
    this.timers.after(due_at - Date.now(), () => {
      this.planNext(message, rest);
      this.report(message, step);
    });
  }

  /** Decides whether the next status or webhook is dropped, and counts it. */
  private swallows(): boolean {
    const { current, random } = this.behaviour;
    if (current.swallow === 0 || random() >= current.swallow) return false;
    this.poster.counts.lost += 1;
    return true;
  }

  private report(message: SentMessage, step: Step): void {
    const at = Date.now();
    const description = step.code === undefined ? null : titleOf(step.code);
    message.history.push({ status: step.status, at, description });
    const account = this.stateOf().accounts.get(message.waba_id);
    if (!account?.subscribed || this.swallows()) return;
    let lane = this.lanes.get(account.id);
    if (!lane) {
      lane = { account_id: account.id, due: [], busy: false };
      this.lanes.set(account.id, lane);
    }
    if (lane.due.length >= PENDING_MAX) this.poster.counts.lost += 1;
    else lane.due.push({ message, step, at });
    // Statuses that are due in the same turn share a body.
    setImmediate((one: Lane) => this.pump(one), lane);
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
