// The behaviour of the emulated platform after it accepts a request: statuses, delays, duplicates,
// failures. The control interface can change all of it; the defaults are a healthy platform with
// short delays.
import { seededRandom, shuffle, type Random } from './random';
import type { StatusName } from './types';

export interface FailRule {
  /** Phone number digits or a business-scoped ID; absent means every recipient. */
  to?: string;
  code: number;
}

/** Delays between the attempts of one webhook: about two minutes in total, then it is lost. */
const RETRY_DELAYS_MS = [1000, 2000, 5000, 10_000, 20_000, 40_000, 45_000];

const defaultBehaviour = () => ({
  statuses: { sent: true, delivered: true, read: true },
  /** Milliseconds after the answer to the send. */
  delays_ms: { sent: 50, delivered: 100, read: 200, failed: 100 },
  /** How many additional times each webhook is posted. */
  duplicate: 0,
  reorder: false,
  hold: false,
  /** The share of statuses and other webhooks that are never posted, from 0 to 1. */
  swallow: 0,
  fail_status: [] as FailRule[],
  seed: 1,
  retry_delays_ms: [...RETRY_DELAYS_MS],
  /**
   * When off, service messages and utility templates inside an open window are free. Null: from
   * 1 October 2026, like the platform's prices.
   */
  service_billable: null as boolean | null,
  lifecycle_delay_ms: 100,
  template_review: { outcome: 'approve' as 'approve' | 'reject' | 'none', delay_ms: 1000 },
  sync: { contacts: 3, messages_per_phase: 2, decline_history: false, media_followup: true },
});

export type Behaviour = ReturnType<typeof defaultBehaviour>;

export class BehaviourHolder {
  current = defaultBehaviour();
  random: Random = seededRandom(1);

  reset(): void {
    this.current = defaultBehaviour();
    this.random = seededRandom(this.current.seed);
  }

  change(change: Partial<Behaviour>): void {
    this.current = {
      ...this.current,
      ...change,
      statuses: { ...this.current.statuses, ...change.statuses },
      delays_ms: { ...this.current.delays_ms, ...change.delays_ms },
      template_review: { ...this.current.template_review, ...change.template_review },
      sync: { ...this.current.sync, ...change.sync },
    };
    if (change.seed !== undefined) this.random = seededRandom(change.seed);
  }

  /** Returns the rule that makes a send fail, if any. */
  failureFor(peers: Array<string | null>): FailRule | undefined {
    return this.current.fail_status.find(({ to }) => to === undefined || peers.includes(to));
  }
}

/** The statuses of one send, in the order they are due. */
export interface Step {
  status: StatusName;
  after_ms: number;
  code?: number;
}

export function stepsFor(
  { delays_ms, statuses, reorder }: Behaviour,
  random: Random,
  type: string,
  failure: number | null,
): Step[] {
  if (failure !== null) return [{ status: 'failed', after_ms: delays_ms.failed, code: failure }];
  // A reaction is only ever reported as sent.
  const names = type === 'reaction' ? (['sent'] as const) : STATUS_ORDER;
  const steps = names
    .filter((status) => statuses[status])
    .map((status): Step => ({ status, after_ms: delays_ms[status] }))
    .sort((a, b) => a.after_ms - b.after_ms);
  return reorder ? exchange(steps, random) : steps;
}

const STATUS_ORDER = ['sent', 'delivered', 'read'] as const;

/** Shuffles the statuses over the same times: `read` may come before `sent`. */
function exchange(steps: Step[], random: Random): Step[] {
  const times = steps.map(({ after_ms }) => after_ms);
  return shuffle(steps, random).map((step, index) => ({
    ...step,
    after_ms: times[index] as number,
  }));
}
