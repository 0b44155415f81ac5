// The customer service window and the free entry point window of a conversation, from the events
// that this service has seen. Pure.
import type { OpenState } from '../pricing';
import type { Conversation } from './contact-changes';

const HOUR_MS = 3_600_000;
/** Contract 1.5: both windows. */
const SERVICE_MS = 24 * HOUR_MS;
const ENTRY_MS = 72 * HOUR_MS;
/** An answer to the ad's message within this time opens the free entry point window. */
const ENTRY_ANSWER_MS = 24 * HOUR_MS;

export interface Window {
  state: OpenState;
  since: string | null;
  until: string | null;
  why: string;
  /** The free entry point window, in which everything is free of charge. */
  entry_point: { state: OpenState; since: string | null; until: string | null };
}

/** `known_since`: since when every message of the number's customers has reached this service. */
export function windowOf(
  conversation: Conversation | undefined,
  known_since: Date,
  now: Date,
): Window {
  return {
    ...serviceWindow(conversation, known_since, now),
    entry_point: entryPoint(conversation, now),
  };
}

function serviceWindow(
  conversation: Conversation | undefined,
  known_since: Date,
  now: Date,
): Omit<Window, 'entry_point'> {
  const { inbound_at } = conversation ?? {};
  if (inbound_at && now.getTime() < inbound_at.getTime() + SERVICE_MS) {
    return {
      state: 'open',
      since: inbound_at.toISOString(),
      until: after(inbound_at, SERVICE_MS),
      why: 'the last message of the customer is less than 24 hours old',
    };
  }
  if (!inbound_at && known_since.getTime() > now.getTime() - SERVICE_MS) {
    return {
      state: 'unknown',
      since: null,
      until: null,
      why: `events of this number are known since ${known_since.toISOString()} only`,
    };
  }
  return {
    state: 'closed',
    since: inbound_at ? after(inbound_at, SERVICE_MS) : null,
    until: null,
    why: inbound_at
      ? 'the last message of the customer is more than 24 hours old'
      : 'the customer has not written to this number in the last 24 hours',
  };
}

/**
 * A message from an ad opens the window once it is answered within 24 hours. The upstream counts 72
 * hours from the answer; counted from the customer's message, the end is never promised too late.
 */
function entryPoint(conversation: Conversation | undefined, now: Date): Window['entry_point'] {
  const { entry_at, free_entry_at } = conversation ?? {};
  const closed = { state: 'closed', since: null, until: null } as const;
  if (!entry_at) return closed;
  const age_ms = now.getTime() - entry_at.getTime();
  const answered = free_entry_at !== undefined && free_entry_at >= entry_at;
  if (age_ms >= ENTRY_MS || (!answered && age_ms >= ENTRY_ANSWER_MS)) return closed;
  return { state: 'open', since: entry_at.toISOString(), until: after(entry_at, ENTRY_MS) };
}

const after = (at: Date, ms: number): string => new Date(at.getTime() + ms).toISOString();
