// The question to the user of an agent before a send: the request, its recipients and their price.
// Clients that declare elicitation show it; the reply comes back with the confirmation.

/** A question to the user, with the confirmation that an acceptance returns. */
export interface Question {
  message: string;
  confirmation: string;
}

/** What the client can show, and the reply of its user to the question of an earlier round. */
export interface Dialog {
  can_ask: boolean;
  reply?: Reply;
}

export interface Reply {
  is_accepted: boolean;
  /** The confirmation that came back: it is verified like any other. */
  confirmation: unknown;
}

export interface Preview {
  would_send: {
    request: string;
    waba_id: string | null;
    phone_number_id: string | null;
    recipients: number;
    body: object;
  };
  deliverable: string;
  cost: object | null;
  reasons: unknown;
}

/** The price of a message or the cost of a broadcast, as the check returns it. */
interface Cost {
  category?: string | null;
  currency?: string | null;
  billable?: boolean | number | null;
  unit_price?: string | null;
  min?: string | null;
  max?: string | null;
  unknown?: number;
  unit_price_reason?: string | null;
  reason?: string | null;
}

/** Users read no more than this; the send has the whole text. */
const CONTENT_MAX = 2_000;
const REASONS_MAX = 5;

/** The text of the question. `title` is that of the tool. */
export function questionOf(title: string, preview: Preview): string {
  const { would_send, deliverable, cost, reasons } = preview;
  const { request, waba_id, phone_number_id, recipients, body } = would_send;
  const number = phone_number_id === null ? '' : `, number ${phone_number_id}`;
  const notes = (reasons as ReadonlyArray<{ message: string }>).slice(0, REASONS_MAX);
  return [
    `${title}?`,
    `Request: ${request}, account ${waba_id ?? 'of the key'}${number}`,
    `Recipients: ${recipients}`,
    `Cost: ${costText(cost)}`,
    ...(deliverable === 'unknown' ? ['It is not known whether the send would succeed.'] : []),
    ...notes.map(({ message }) => `Note: ${message}`),
    `Content: ${shortened(JSON.stringify(body))}`,
  ].join('\n');
}

/** Amounts are decimal texts of the operator's rate card, or absent with a reason. */
export function costText(cost: Cost | null): string {
  if (cost === null) return 'not known';
  const { category, currency, min, max, unit_price } = cost;
  const of = category ? ` (${category})` : '';
  if (cost.billable === false || (cost.billable === 0 && cost.unknown === 0)) return `free${of}`;
  const low = min ?? unit_price;
  const high = max ?? unit_price;
  if (low === undefined || low === null || high === undefined || high === null) {
    const reason = cost.reason ?? cost.unit_price_reason;
    return `not known${of}${reason ? `: ${reason}` : ''}`;
  }
  const may_be_free = cost.billable === null ? ', or free' : '';
  const amount = low === high ? low : `${low} to ${high}`;
  return `${amount} ${currency ?? ''}`.trim() + may_be_free + of;
}

const shortened = (text: string): string =>
  text.length <= CONTENT_MAX
    ? text
    : `${text.slice(0, CONTENT_MAX)} … (${text.length - CONTENT_MAX} more characters)`;
