// POST /messages/check: what a send would do and cost, from our own state. Sends nothing and refuses nothing.
import { ApiError } from '@bmg/common/errors';
import type { Credential, Credentials } from '@bmg/common/directory';
import { refusalToSend } from '@bmg/common/directory';
import { normalisePhone } from '@bmg/common/ids';
import { resolveRecipient } from '@bmg/common/messages';
import type { Call, Client } from '@bmg/common/rpc';
import type { Logger } from '@bmg/common/telemetry';
import { needTarget, peopleOfTier, type Json } from '@bmg/common/upstream';
import type { BroadcastsDefinition } from '@bmg/proto/broadcasts';
import type { Target } from '@bmg/proto/common';
import type { CheckMessageRequest } from '@bmg/proto/messaging';
import type { TemplatesDefinition } from '@bmg/proto/templates';
import type { Content } from '../send/content';
import type { Contacts } from '../store/contacts';
import type { Conversation, Conversations } from '../store/conversations';
import type { Messages } from '../store/messages';
import type { RateCards } from '../store/rate-cards';
import type { RefusedTokens } from '../store/refused-tokens';
import { contentOf } from './content-of';
import { mediaReasons, type MediaCheckDependencies } from './media';
import { priceOf } from './price';
import { deliverableOf, reason, refusal, upstreamRefusal, type Reason } from './reasons';
import { checkTemplate, type TemplateVerdict } from './template';
import { windowOf, type Window } from './window';

export interface CheckDependencies extends MediaCheckDependencies {
  credentials: Pick<Credentials, 'of'>;
  /** Absent where the service is not configured with its address. */
  templates: Pick<Client<TemplatesDefinition>, 'findTemplate'> | undefined;
  broadcasts: Pick<Client<BroadcastsDefinition>, 'getPace'> | undefined;
  contacts: Pick<Contacts, 'find'>;
  conversations: Pick<Conversations, 'find' | 'recordedSince'>;
  messages: Pick<Messages, 'countTemplateRecipients'>;
  rateCards: Pick<RateCards, 'prices'>;
  refusedTokens: Pick<RefusedTokens, 'has'>;
  now: () => Date;
  log: Logger;
}

export const ADVICE = 'This is advice at the time of checked_at. No send is refused because of it.';

const DAY_MS = 86_400_000;
/** A failure says nothing about a customer any more after this time. */
const FAILURE_COUNTS_MS = 7 * DAY_MS;
/** Pace and limit are extras: the answer does not wait long for them. */
const EXTRAS_LIMIT_MS = 2_000;

/** What is known of a message once its body is valid. */
interface Draft {
  recipient: string;
  content: Content;
}

export async function checkMessage(
  deps: CheckDependencies,
  request: CheckMessageRequest,
  call: Call,
): Promise<{ fields: Json }> {
  const target = needTarget(request.target);
  const now = deps.now();
  const credential = await deps.credentials.of(target, call);
  const reasons: Reason[] = await numberReasons(deps, target, credential);
  const draft = readDraft(request, reasons);
  const [verdict, facts, extras] = await Promise.all([
    draft && request.kind === 'template'
      ? checkTemplate(deps, { target, ...draft }, call)
      : undefined,
    draft && readConversation(deps, target, draft.recipient, credential, now),
    readExtras(deps, target, credential, now, call),
  ]);
  const category = draft && (request.kind === 'template' ? verdict?.category : 'service');
  if (verdict) reasons.push(...verdict.reasons);
  if (draft && facts) {
    reasons.push(...recipientReasons(draft, facts, credential, category, now));
    if (request.kind !== 'template') reasons.push(...windowReasons(facts.window));
  }
  if (draft && request.kind === 'media') {
    const media = { ...(draft.content.body[draft.content.kind] as Json) };
    const { access_token } = credential;
    reasons.push(
      ...(await mediaReasons(
        deps,
        { type: draft.content.kind, media, target, access_token },
        call,
      )),
    );
  }
  return {
    fields: {
      advice: ADVICE,
      checked_at: now.toISOString(),
      kind: request.kind,
      deliverable: deliverableOf(reasons),
      reasons,
      window: facts?.window ?? null,
      price: draft && facts && category ? await price(deps, draft, facts, category, now) : null,
      template: verdict ? describeTemplate(verdict) : null,
      ...extras,
    },
  };
}

/** The state of the number: the same for every message on it. */
export async function numberReasons(
  { refusedTokens }: Pick<CheckDependencies, 'refusedTokens'>,
  target: Target,
  credential: Credential,
): Promise<Reason[]> {
  const stopped = refusalToSend(credential);
  const dead = await refusedTokens.has(target, credential.access_token);
  return [
    ...(stopped ? [refusal(stopped)] : []),
    ...(dead ? [upstreamRefusal(190, 'the upstream refused the token of this number')] : []),
  ];
}

/** Undefined if the body is invalid; its faults are added to the reasons. */
function readDraft(request: CheckMessageRequest, reasons: Reason[]): Draft | undefined {
  reasons.push(...request.faults.map((fault) => reason('no', fault)));
  if (request.faults.length > 0) return undefined;
  try {
    const content = contentOf(request.kind, request.body ?? {});
    const recipient = resolveRecipient(request.recipient ?? {});
    return { content, recipient: 'phone' in recipient ? recipient.phone : recipient.bsuid };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    reasons.push(refusal(error));
    return undefined;
  }
}

interface ConversationFacts {
  conversation: Conversation | undefined;
  window: Window;
}

async function readConversation(
  { conversations, contacts }: CheckDependencies,
  target: Target,
  recipient: string,
  { registered_at }: Credential,
  now: Date,
): Promise<ConversationFacts> {
  const [contact, recorded_since] = await Promise.all([
    contacts.find(target.waba_id, recipient),
    conversations.recordedSince(),
  ]);
  // In some countries the platform's id of a number differs from the number.
  const names = [...new Set([recipient, contact?.wa_id ?? recipient])];
  const found = await conversations.find(target, names);
  const conversation = found.get(recipient) ?? found.get(contact?.wa_id ?? '');
  const known_since = new Date(Math.max(recorded_since.getTime(), registered_at?.getTime() ?? 0));
  return { conversation, window: windowOf(conversation, known_since, now) };
}

function recipientReasons(
  { recipient }: Draft,
  { conversation }: ConversationFacts,
  { phone_number }: Credential,
  category: string | undefined,
  now: Date,
): Reason[] {
  if (recipient === normalisePhone(phone_number)) {
    return [upstreamRefusal(131_021, 'is the number that sends', 'to')];
  }
  return customerReasons(conversation, category, now);
}

/** What the last failure says about a customer who has not written since. */
export function customerReasons(
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

export function windowReasons({ state, why }: Window): Reason[] {
  if (state === 'open') return [];
  if (state === 'closed') {
    return [upstreamRefusal(131_047, `the customer service window is closed: ${why}`, 'to')];
  }
  return [
    reason('unknown', {
      code: 'WINDOW_UNKNOWN',
      field: 'to',
      message: `the customer service window is not known: ${why}`,
      upstream_code: 131_047,
    }),
  ];
}

const price = async (
  { rateCards }: CheckDependencies,
  { recipient }: Draft,
  { window }: ConversationFacts,
  category: string,
  at: Date,
) =>
  priceOf(
    { category, recipient, at, window: window.state, entry_point: window.entry_point.state },
    await rateCards.prices(),
  );

const describeTemplate = ({ status, category, category_since }: TemplateVerdict): Json => ({
  status: status ?? null,
  category: category ?? null,
  category_since: category_since ?? null,
});

/** Pace and messaging limit; null where they cannot be found out now. */
export async function readExtras(
  deps: Pick<CheckDependencies, 'broadcasts' | 'messages' | 'log'>,
  target: Target,
  { messaging_limit_tier }: Credential,
  now: Date,
  call: Call,
): Promise<{ pace: Json | null; messaging_limit: Json }> {
  const deadline = Math.min(call.deadline, Date.now() + EXTRAS_LIMIT_MS);
  const orNull = (error: unknown): null => {
    deps.log.warn({ err: error }, 'failed to read pace or messaging limit');
    return null;
  };
  const since = new Date(now.getTime() - DAY_MS);
  const [pace, used] = await Promise.all([
    deps.broadcasts?.getPace({ target }, { ...call, deadline }).catch(orNull) ?? null,
    deps.messages.countTemplateRecipients(target, since).catch(orNull),
  ]);
  const limit = peopleOfTier(messaging_limit_tier) ?? null;
  return {
    pace: pace && { ...pace, leaves_at: now.toISOString() },
    messaging_limit: {
      tier: messaging_limit_tier ?? null,
      limit,
      used,
      left: limit === null || used === null ? null : Math.max(0, limit - used),
    },
  };
}
