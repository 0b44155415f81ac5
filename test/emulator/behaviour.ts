// The behaviour of the emulated platform after it accepts a request: statuses, delays, duplicates,
// failures. The control interface can change all of it; the defaults are a healthy platform with
// short delays.
import { seededRandom, shuffle, type Random } from './random';
import type { SyncSeed } from './state';
import type { StatusName } from './types';

export interface FailRule {
  /** Phone number digits or a business-scoped ID; absent means every recipient. */
  to?: string;
  code: number;
  details?: string;
  /** Reports `sent` first, as the platform does for failures that it detects later. */
  after_sent?: boolean;
  probability?: number;
  /** -1, the default, means until cleared. */
  times?: number;
}

export interface Behaviour {
  statuses: Record<'sent' | 'delivered' | 'read', boolean>;
  /** Milliseconds after the answer to the send. */
  delays_ms: Record<'sent' | 'delivered' | 'read' | 'failed', number>;
  /** How many additional times each webhook is posted. */
  duplicate: number;
  reorder: boolean;
  hold: boolean;
  /** The share of statuses and other webhooks that are never posted, from 0 to 1. */
  swallow: number;
  fail_status: FailRule[];
  seed: number;
  batch_max: number;
  retry_delays_ms: number[];
  timeout_ms: number;
  conversation: 'always' | 'free_entry_point_only' | 'never';
  /** When off, service messages and utility templates inside an open window are free. */
  /** Null: from 1 October 2026, like the platform's prices. */
  service_billable: boolean | null;
  lifecycle_delay_ms: number;
  template_review: { outcome: 'approve' | 'reject' | 'none'; delay_ms: number };
  sync: SyncSeed;
}

/** Delays between the attempts of one webhook: about two minutes in total, then it is lost. */
const RETRY_DELAYS_MS = [1000, 2000, 5000, 10_000, 20_000, 40_000, 45_000];
export const POST_TIMEOUT_MS = 10_000;
export const BATCH_DEFAULT = 100;
/** The platform's own maximum of statuses in one webhook. */
export const BATCH_MAX = 1000;

function defaultBehaviour(): Behaviour {
  return {
    statuses: { sent: true, delivered: true, read: true },
    delays_ms: { sent: 50, delivered: 100, read: 200, failed: 100 },
    duplicate: 0,
    reorder: false,
    hold: false,
    swallow: 0,
    fail_status: [],
    seed: 1,
    batch_max: BATCH_DEFAULT,
    retry_delays_ms: [...RETRY_DELAYS_MS],
    timeout_ms: POST_TIMEOUT_MS,
    conversation: 'always',
    service_billable: null,
    lifecycle_delay_ms: 100,
    template_review: { outcome: 'approve', delay_ms: 1000 },
    sync: { contacts: 3, messages_per_phase: 2, decline_history: false, media_followup: true },
  };
}

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

  /** Returns the rule that makes a send fail, if any, and uses up one of its `times`. */
  failureFor(peers: Array<string | null>): FailRule | null {
    for (const rule of this.current.fail_status) {
      if (rule.times === 0 || (rule.to !== undefined && !peers.includes(rule.to))) continue;
      if (rule.probability !== undefined && this.random() >= rule.probability) continue;
      if (rule.times !== undefined && rule.times > 0) rule.times -= 1;
      return rule;
    }
    return null;
  }
}

/** The statuses of one send, in the order they are due. */
export interface Step {
  status: StatusName;
  after_ms: number;
  code?: number;
  details?: string;
}

export function stepsFor(
  behaviour: Behaviour,
  random: Random,
  message: { type: string },
  failure: { code: number; details?: string; after_sent?: boolean } | null,
): Step[] {
  const { delays_ms, statuses } = behaviour;
  const steps: Step[] = [];
  if (failure) {
    if (failure.after_sent && statuses.sent)
      steps.push({ status: 'sent', after_ms: delays_ms.sent });
    const details = failure.details !== undefined ? { details: failure.details } : {};
    steps.push({ status: 'failed', after_ms: delays_ms.failed, code: failure.code, ...details });
    return steps;
  }
  // A reaction is only ever reported as sent.
  const names = message.type === 'reaction' ? (['sent'] as const) : STATUS_ORDER;
  for (const status of names) {
    if (statuses[status]) steps.push({ status, after_ms: delays_ms[status] });
  }
  steps.sort((a, b) => a.after_ms - b.after_ms);
  return behaviour.reorder ? exchange(steps, random) : steps;
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
