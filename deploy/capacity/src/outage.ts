// Models an outage of the largest partner's receiver: the backlog, the time to drain it, and the
// effect on other partners. It uses the rules of the webhooks service (retry schedule, adaptive
// share of attempts in flight, limit in memory, overflow to the store) in steps of one second. It
// counts events instead of following each one, and assumes many short conversations.
export interface Scenario {
  /** Events per second of all partners, and the fraction that belongs to the largest one. */
  events_per_s: number;
  largest_share: number;
  replicas: number;
  away_s: number;
  /** During the outage the receiver `refuses` at once, or `hangs` until the timeout. */
  fails: 'refuses' | 'hangs';
  /** After the outage: the receiver's response time, and its limit of events per second. */
  receiver_s: number;
  receiver_per_s: number;
  /** CPU time of one delivery in the webhooks service. */
  delivery_cpu_s: number;
}

export type Outcome = ReturnType<typeof simulate>;

/** The rules of services/webhooks/src/delivery/. A test compares the values that are exported. */
export const RULES = {
  retry_delays_s: [5, 30, 120, 600, 1_800, 3_600, 10_800, 21_600, 43_200, 86_400],
  /** The mean factor of the jitter. */
  retry_factor: 1.1,
  share: 64,
  share_at_first: 8,
  share_at_least: 2,
  in_memory_max: 10_000,
  refill_below: 0.5,
  probe_every_s: 30,
  answer_limit_s: 10,
} as const;

const REFUSAL_S = 0.005;
const HORIZON_S = 4 * 86_400;

/** Counts events in memory by due time and number of attempts. */
class Waiting {
  private readonly slots = new Map<number, Map<number, number>>();
  private due = new Map<number, number>();
  size = 0;

  add(attempts: number, count: number, at: number, now: number): void {
    if (count <= 0) return;
    this.size += count;
    if (at <= now) this.due.set(attempts, (this.due.get(attempts) ?? 0) + count);
    else {
      const slot = this.slots.get(at) ?? new Map<number, number>();
      this.slots.set(at, slot.set(attempts, (slot.get(attempts) ?? 0) + count));
    }
  }
  wake(now: number): void {
    for (const [attempts, count] of this.slots.get(now) ?? []) {
      this.due.set(attempts, (this.due.get(attempts) ?? 0) + count);
    }
    this.slots.delete(now);
  }
  wakeAll(): void {
    for (const at of [...this.slots.keys()]) this.wake(at);
  }
  /** Takes due events, oldest first: those with the most attempts. */
  take(limit: number): Array<[attempts: number, count: number]> {
    const taken: Array<[number, number]> = [];
    let left = Math.floor(limit);
    for (const attempts of [...this.due.keys()].sort((a, b) => b - a)) {
      if (left <= 0) break;
      const there = this.due.get(attempts) ?? 0;
      const count = Math.min(there, left);
      if (count === there) this.due.delete(attempts);
      else this.due.set(attempts, there - count);
      this.size -= count;
      left -= count;
      taken.push([attempts, count]);
    }
    return taken;
  }
}

export function simulate(scenario: Scenario) {
  const { events_per_s, largest_share, replicas, away_s } = scenario;
  const own = Math.round(events_per_s * largest_share);
  const memory_max = RULES.in_memory_max * replicas;
  const waiting = new Waiting();
  const load = processorOf(scenario);
  let [stored, overflow, share] = [0, false, RULES.share as number];
  let [backlog_max, beyond_memory_max, delivered, given_up] = [0, 0, 0, 0];
  let [silence_s, allowance, probed_at] = [-1, 0, -Infinity];
  let back = false;
  const others_wait_ms = { calm: load.wait_ms(0, 0), away: 0, drain: 0 };

  for (let now = 0; now < HORIZON_S; now += 1) {
    const up = now >= away_s;
    if (overflow) stored += own;
    else waiting.add(0, own, now, now);
    overflow ||= waiting.size > memory_max;
    waiting.wake(now);
    // A new event probes the receiver periodically. Once one is accepted, all waiting events are
    // due.
    if (overflow && now - probed_at >= RULES.probe_every_s) {
      probed_at = now;
      if (up && !back) waiting.wakeAll();
      back = up;
    }

    // A fraction of an attempt carries over: attempts at a hanging receiver take several seconds.
    const speed = up
      ? load.attempts_per_s(share)
      : (share * replicas) / (scenario.fails === 'hangs' ? RULES.answer_limit_s : REFUSAL_S);
    allowance = Math.min(allowance, 1) + speed;
    const taken = waiting.take(allowance);
    const tried = taken.reduce((sum, [, count]) => sum + count, 0);
    allowance -= tried;
    if (up) {
      delivered += tried;
      if (tried > 0 && silence_s < 0) silence_s = now - away_s;
      share = Math.min(RULES.share, share + tried / replicas);
    } else {
      if (tried > 0) share = Math.max(RULES.share_at_least, Math.floor(share / 2));
      for (const [attempts, count] of taken) {
        const delay = RULES.retry_delays_s[attempts];
        if (delay === undefined) given_up += count;
        else waiting.add(attempts + 1, count, now + Math.round(delay * RULES.retry_factor), now);
      }
    }
    if (overflow && waiting.size < memory_max * RULES.refill_below) {
      const read = Math.min(stored, memory_max - waiting.size);
      stored -= read;
      waiting.add(0, read, now, now);
      overflow = stored > 0;
    }
    const backlog = waiting.size + stored;
    backlog_max = Math.max(backlog_max, backlog);
    beyond_memory_max = Math.max(beyond_memory_max, stored);
    const phase = up ? 'drain' : 'away';
    const wait = load.wait_ms(tried, share * replicas);
    others_wait_ms[phase] = Math.max(others_wait_ms[phase], wait);
    // Drained: only the events of this second are left.
    if (up && backlog <= own && tried > 0) {
      const drained_s = now - away_s;
      const busy_s = Math.max(1, drained_s - silence_s);
      const drain_per_s = delivered / busy_s;
      return {
        /** The largest backlog, and the largest part of it that was only in the store. */
        backlog_max,
        beyond_memory_max,
        /** From the receiver's return until its first event, and until the backlog is drained. */
        silence_s,
        drained_s,
        drain_per_s,
        given_up,
        /** The longest wait of other partners' events for CPU. */
        others_wait_ms,
      };
    }
  }
  throw new Error('the backlog is never drained: the receiver is slower than its events arrive');
}

/** The CPU capacity of the replicas, and the part of it left for the largest partner. */
function processorOf(scenario: Scenario) {
  const { events_per_s, largest_share, replicas, delivery_cpu_s, receiver_s, receiver_per_s } =
    scenario;
  const others = events_per_s * (1 - largest_share);
  const capacity = replicas / delivery_cpu_s;
  return {
    /** The least of what its share, its receiver and the CPU allow. */
    attempts_per_s: (share: number): number =>
      Math.min((share * replicas) / receiver_s, receiver_per_s, Math.max(1, capacity - others)),
    /** One queue for each replica; the partner never has more events in it than its share. */
    wait_ms(tried: number, in_flight: number): number {
      const busy = (others + tried) / capacity;
      const queue = busy < 1 ? busy / (1 - busy) : Infinity;
      const calm = others / capacity;
      const worst = calm / Math.max(0.01, 1 - calm) + in_flight / replicas;
      return Math.min(queue, worst) * delivery_cpu_s * 1_000;
    },
  };
}
