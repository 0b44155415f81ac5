// Calculates an outage of the largest partner's receiver: the backlog, the time to drain it, and
// the effect on other partners. It uses the rules of the webhooks service (retry schedule, share of
// attempts in flight, limit in memory, probes) and assumes many short conversations.
export interface Scenario {
  /** Events per second of all partners, and the fraction that belongs to the largest one. */
  events_per_s: number;
  largest_share: number;
  replicas: number;
  away_s: number;
  /** After the outage: the receiver's response time, and its limit of events per second. */
  receiver_s: number;
  receiver_per_s: number;
  /** CPU time of one delivery in the webhooks service. */
  delivery_cpu_s: number;
}

/** The rules of services/webhooks/src/delivery/. A test compares the values that are exported. */
export const RULES = {
  retry_delays_s: [5, 30, 120, 600, 1_800, 3_600, 10_800, 21_600, 43_200, 86_400],
  share: 64,
  in_memory_max: 10_000,
  probe_every_s: 30,
} as const;

export function outageOf(scenario: Scenario) {
  const { events_per_s, largest_share, replicas, away_s, receiver_s } = scenario;
  const own = events_per_s * largest_share;
  const others = events_per_s - own;
  const capacity = replicas / scenario.delivery_cpu_s;
  // The least of what its share, its receiver and the CPU allow.
  const drain_per_s = Math.min(
    (RULES.share * replicas) / receiver_s,
    scenario.receiver_per_s,
    capacity - others,
  );
  if (drain_per_s <= own) {
    throw new Error('the backlog is never drained: the receiver is slower than its events arrive');
  }
  // A new event probes a receiver whose waiting events all have a distant attempt.
  const silence_max_s = RULES.probe_every_s;
  const backlog_max = own * (away_s + silence_max_s);
  const queue_at = (busy: number): number => (busy < 1 ? busy / (1 - busy) : Infinity);
  const calm = queue_at(others / capacity);
  // One queue for each replica; the partner never has more events in it than its share.
  const drain = Math.min(queue_at((others + drain_per_s) / capacity), calm + RULES.share);
  const wait_ms = (queue: number): number => queue * scenario.delivery_cpu_s * 1_000;
  return {
    /** The largest backlog, and the part of it that is only in the store. */
    backlog_max,
    stored_max: Math.max(0, backlog_max - RULES.in_memory_max * replicas),
    /** From the receiver's return until its first event, and until the backlog is drained. */
    silence_max_s,
    drained_s: silence_max_s + backlog_max / (drain_per_s - own),
    drain_per_s,
    /** An event that is refused for longer is given up. */
    retried_s: RULES.retry_delays_s.reduce((sum, delay) => sum + delay, 0),
    /** How long other partners' events wait for CPU. */
    others_wait_ms: { calm: wait_ms(calm), drain: wait_ms(drain) },
  };
}
