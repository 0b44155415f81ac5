// The price that the pre-flight predicted for a send: the same rules, applied to the facts that are
// still known of the conversation at the time of the send. Pure.
import { type Conversation, KEPT_DAYS, windowOf } from '../contacts';
import { type Billing, billingOf, type OpenState } from '../pricing';

const DAY_MS = 86_400_000;
/** Contacts are kept this long after the last event: later, a missing one proves nothing. */
const KEPT_MS = KEPT_DAYS * DAY_MS;

export interface Send {
  category: string;
  sent_at: Date;
}

export function preflightOf(
  { category, sent_at }: Send,
  conversation: Conversation | undefined,
  known_since: Date,
  now: Date,
): Billing {
  const forgotten = !conversation && now.getTime() - sent_at.getTime() > KEPT_MS;
  const { state, entry_point } = windowOf(conversation, known_since, sent_at);
  const at = (open: OpenState, event: Date | undefined): OpenState =>
    // Events after the send hide the state before it.
    forgotten || (event !== undefined && event > sent_at) ? 'unknown' : open;
  return billingOf({
    category,
    at: sent_at,
    window: at(state, conversation?.inbound_at),
    entry_point: at(entry_point.state, conversation?.entry_at),
  });
}
