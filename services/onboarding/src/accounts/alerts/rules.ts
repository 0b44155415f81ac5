// The causes of alerts: the valid thresholds, and whether a figure crosses one. Pure.
import { invalidField } from '@bmg/common/errors';

interface Cause {
  valid: RegExp;
  rule: string;
}

const ON: Cause = { valid: /^true$/, rule: 'must be true, or null' };

export const CAUSES = {
  spend_per_day: {
    valid: /^(?!0+(\.0+)?$)\d{1,9}(\.\d{1,8})?$/,
    rule: 'must be a decimal above 0 such as "50.00", or null',
  },
  failure_rate: {
    valid: /^([1-9]|[1-9]\d|100)$/,
    rule: 'must be a whole percentage from 1 to 100, or null',
  },
  webhook_failures: {
    valid: /^[1-9]\d{0,6}$/,
    rule: 'must be a whole number from 1 to 9999999, or null',
  },
  quality_drops: ON,
  unpaid_slots: ON,
} as const satisfies Record<string, Cause>;

export type CauseName = keyof typeof CAUSES;
/** The thresholds by cause: decimal text, or `true`. */
type Thresholds = Readonly<Record<string, string>>;

export const isCause = (name: string): name is CauseName => Object.hasOwn(CAUSES, name);

/** An empty text ends the alerts of its cause. Throws INVALID_FIELD. */
export function changeThresholds(
  before: Thresholds,
  changes: Readonly<Record<string, string>>,
): Thresholds {
  const after: Record<string, string> = { ...before };
  for (const [name, threshold] of Object.entries(changes)) {
    if (!isCause(name)) throw invalidField(`alerts.${name}`, 'is not a cause of alerts');
    const { valid, rule } = CAUSES[name];
    if (threshold === '') delete after[name];
    else if (valid.test(threshold)) after[name] = threshold;
    else throw invalidField(`alerts.${name}`, rule);
  }
  return after;
}

/** Fewer messages say little about a failure rate. */
export const MESSAGES_MIN = 20;

/** The failures of a day in percent, rounded down; undefined while there are too few messages. */
export function failureRate({
  sent,
  failed,
}: {
  sent: number;
  failed: number;
}): number | undefined {
  // A message that fails at once is never reported as sent.
  const all = Math.max(sent, failed);
  return all < MESSAGES_MIN ? undefined : Math.floor((failed * 100) / all);
}
