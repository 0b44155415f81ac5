// Facts about the recipients of messages: their conversations with the number, and why the last
// send to them failed.
import { upstreamRefusal, type Reason } from '@bmg/common/preflight';
import type { Credential } from '@bmg/common/directory';
import { isSameNumber, normalisePhone } from '@bmg/common/ids';
import type { Target } from '@bmg/proto/common';
import { type Conversation, joinConversations, type Window, windowOf } from '../contacts';
import type { Needs } from '../dependencies';

export type RecipientSources = Needs<{
  contacts: 'findIds';
  conversations: 'find' | 'recordedSince';
}>;

export interface RecipientFacts {
  /** The recipient as given, and the id that the platform gave for it. */
  ids: string[];
  conversation: Conversation | undefined;
  window: Window;
}

/** `at`: when the messages are sent. */
export async function readRecipients(
  { conversations, contacts }: RecipientSources,
  target: Target,
  { registered_at }: Credential,
  recipients: readonly string[],
  at: Date,
): Promise<(recipient: string) => RecipientFacts> {
  const [known_ids, recorded_since] = await Promise.all([
    contacts.findIds(target.waba_id, recipients),
    conversations.recordedSince(),
  ]);
  // In some countries the platform's id of a number differs from the number.
  const found = await conversations.find(target, [
    ...new Set([...recipients, ...known_ids.values()]),
  ]);
  const known_since = new Date(Math.max(recorded_since.getTime(), registered_at?.getTime() ?? 0));
  return (recipient) => {
    const id = known_ids.get(recipient);
    const ids = id === undefined ? [recipient] : [recipient, id];
    const conversation = joinConversations(ids.map((one) => found.get(one)));
    return {
      ids,
      conversation,
      window: windowOf(conversation, known_since, at),
    };
  };
}

/** Why a message would not reach its recipient, whatever its content. */
export function recipientReasons(
  recipient: string,
  { conversation }: RecipientFacts,
  { phone_number }: Credential,
  category: string | undefined,
  now: Date,
): Reason[] {
  return isSameNumber(recipient, normalisePhone(phone_number) ?? '')
    ? [upstreamRefusal(131_021, 'is the number that sends', 'to')]
    : customerReasons(conversation, category, now);
}

const DAY_MS = 86_400_000;
/** A failure is no longer evidence about a customer after this time. */
const FAILURE_COUNTS_MS = 7 * DAY_MS;

/** The conclusion from the last failure about a customer who has not written since. */
function customerReasons(
  conversation: Conversation | undefined,
  category: string | undefined,
  now: Date,
): Reason[] {
  const { failed, inbound_at } = conversation ?? {};
  if (!failed || now.getTime() - failed.at.getTime() > FAILURE_COUNTS_MS) return [];
  if (inbound_at && inbound_at >= failed.at) return [];
  const since = failed.at.toISOString();
  if (failed.code === 131_026) {
    return [upstreamRefusal(131_026, `could not be reached on ${since}`, 'to')];
  }
  return category === 'marketing'
    ? [upstreamRefusal(131_050, `wants no marketing from this business since ${since}`, 'to')]
    : [];
}
