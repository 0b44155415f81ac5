// The contact and the message of an event. Pure.

export interface Subject {
  /** A phone number or a BSUID. */
  contact: string | null;
  message_id: string | null;
}

/** Fields of `data` that name the other side, by event. */
const CONTACTS = ['from', 'recipient', 'to', 'user_id', 'phone_number'] as const;
const MESSAGES = ['message_id', 'id'] as const;

const firstText = (data: Record<string, unknown>, names: readonly string[]): string | null =>
  (names.map((name) => data[name]).find((value) => typeof value === 'string' && value !== '') as
    string | undefined) ?? null;

/** `envelope`: an event as it is posted to a webhook URL. */
export function subjectOf(envelope: Record<string, unknown>): Subject {
  const data = (envelope['data'] ?? {}) as Record<string, unknown>;
  return { contact: firstText(data, CONTACTS), message_id: firstText(data, MESSAGES) };
}
