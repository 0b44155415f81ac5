// Why a message would not be delivered, or why that cannot be predicted: one table, with the
// remedies. Pure.
import type { ApiError } from '../errors';

export const ADVICE = 'This is advice at the time of checked_at. No send is refused because of it.';

/** `no`: a send would fail. `unknown`: the gateway cannot predict it. `note`: worth knowing, no obstacle. */
export type Effect = 'no' | 'unknown' | 'note';
export type Deliverable = 'yes' | 'no' | 'unknown';

export interface Reason {
  code: string;
  effect: Effect;
  field: string | null;
  message: string;
  /** The remedy. */
  fix: string;
  /** The upstream's code that a send would get; null if the send would not reach the upstream. */
  upstream_code: number | null;
}

/** Keyed by our code, or by the upstream's code if ours is the general one. */
const FIXES: Readonly<Record<string, string>> = {
  100: 'Correct the field that the message names.',
  190: 'Connect the number again, or send a new token to POST /clients/{waba_id}/refresh.',
  131008: 'Add the missing parameter.',
  131009: 'Correct the parameter.',
  131021: 'Send to another number than the one that sends.',
  131026: 'Ask the customer to write first, or use another channel.',
  131047: 'Send a template, or wait until the customer writes.',
  131050: 'Send this customer no marketing.',
  131052: 'Serve the file publicly over HTTPS.',
  131053: 'Use a file of a supported type and size.',
  131062: 'Send to a phone number.',
  132000: 'Send exactly the parameters that the template has.',
  132001: 'Use the name and language of an approved template.',
  132005: 'Shorten the parameters.',
  132012: 'Send parameters of the kind that the template has.',
  132015: 'Use another template until this one is active again.',
  132016: 'Create a new template.',
  NO_ACTIVE_WABA: 'Wait for the event waba.reconnected.',
  PAYMENT_FAILED: 'Pay the open invoice.',
  PAYMENT_ACTION_REQUIRED: 'Open payment_url and confirm the payment.',
  AUTH_TEMPLATE_NEEDS_PHONE: 'Send to a phone number.',
  RECIPIENT_BLOCKED: 'Unblock the customer with DELETE /blocked.',
  BLOCK_LIST_UNKNOWN: 'Look at GET /blocked.',
  MEDIA_TOO_LARGE: 'Make the file smaller.',
  WINDOW_UNKNOWN: 'Send a template, or send and handle the upstream code 131047.',
  TEMPLATE_UNKNOWN: 'Check again later, or look at GET /templates.',
  MEDIA_UNKNOWN: 'Check that the link is public, or upload the file first.',
  QUOTA_EXCEEDED: 'Cancel broadcasts that wait, or try again later.',
  APPROVAL_REQUIRED: 'Ask another person with the role owner or developer to approve it.',
  MESSAGING_LIMIT: 'Expect the upstream to refuse what exceeds the limit.',
};

const CORRECT = 'Correct the field and check again.';

export function reason(
  effect: Effect,
  about: {
    code: string;
    message: string;
    field?: string | null | undefined;
    upstream_code?: number | undefined;
  },
): Reason {
  const { code, message, field = null, upstream_code } = about;
  return {
    code,
    effect,
    field,
    message,
    fix: FIXES[code] ?? FIXES[upstream_code ?? ''] ?? CORRECT,
    upstream_code: upstream_code ?? null,
  };
}

/** The error of a send. */
export const refusal = (error: ApiError): Reason =>
  reason('no', {
    code: error.code,
    message: error.message,
    field: fieldOf(error),
    upstream_code: error.upstream_code,
  });

/** The error that the upstream would answer, at once or later in `message.failed`. */
export const upstreamRefusal = (
  upstream_code: number,
  message: string,
  field: string | null = null,
): Reason => reason('no', { code: 'UPSTREAM_ERROR', message, field, upstream_code });

export function deliverableOf(reasons: readonly Reason[]): Deliverable {
  if (reasons.some(({ effect }) => effect === 'no')) return 'no';
  return reasons.some(({ effect }) => effect === 'unknown') ? 'unknown' : 'yes';
}

function fieldOf({ details }: ApiError): string | null {
  const { field, fields } = (details ?? {}) as { field?: unknown; fields?: unknown };
  if (typeof field === 'string') return field;
  return Array.isArray(fields) ? (fields as string[]).join(', ') : null;
}

/** Examples of one reason: enough to see a pattern. */
export const EXAMPLES_MAX = 10;

export interface Example {
  place: number;
  field: string | null;
  message: string;
}

export interface Finding {
  /** The first one found; the others may differ in field and message. */
  reason: Reason;
  /** Places of the contacts; none if it does not concern single contacts. */
  places: number[];
  examples: Example[];
}

/** Collects the reasons of many contacts: each once, with its contacts and some examples. */
export class Findings {
  private readonly found = new Map<string, Finding>();

  /** Reasons with the same code and effect are one, if they concern contacts. */
  add(reason: Reason, place?: number): void {
    const { code, effect, upstream_code, field, message } = reason;
    const key = [code, effect, upstream_code, ...(place === undefined ? [field, message] : [])];
    const finding = this.at(key.join(' '), reason);
    if (place === undefined) return;
    finding.places.push(place);
    if (finding.examples.length < EXAMPLES_MAX) finding.examples.push({ place, field, message });
  }

  list(): Finding[] {
    return [...this.found.values()];
  }

  private at(key: string, reason: Reason): Finding {
    const known = this.found.get(key);
    if (known) return known;
    const finding = { reason, places: [], examples: [] };
    this.found.set(key, finding);
    return finding;
  }
}
