// The pre-flight of one message, POST /messages/check: what a send would do and cost, from our own
// state. Sends nothing and refuses nothing.
import {
  ADVICE,
  deliverableOf,
  reason,
  refusal,
  upstreamRefusal,
  type Reason,
} from '@bmg/common/preflight';
import { refusalToSend } from '@bmg/common/directory';
import { ApiError } from '@bmg/common/errors';
import { resolveRecipient } from '@bmg/common/messages';
import type { Call } from '@bmg/common/rpc';
import { needTarget, type Json } from '@bmg/common/upstream';
import type { Target } from '@bmg/proto/common';
import type { CheckMessageRequest } from '@bmg/proto/messaging';
import { type Content, contentOf } from '../send';
import { blockReasons, incompleteList, type BlockLists } from './block-list';
import { mediaReasons, type MediaDependencies } from './media';
import { messagingLimitOf, tokenReasons, type NumberSources } from './number';
import { priceOf } from './cost';
import { readRecipients, recipientReasons, type RecipientSources } from './recipients';
import { templateVerdict, type TemplateVerdict } from './template';
import type { Window } from '../contacts';
import type { Needs, Dependencies } from '../dependencies';

export interface PreflightDependencies
  extends
    MediaDependencies,
    NumberSources,
    RecipientSources,
    Needs<{
      credentials: 'of';
      templates: 'findTemplate';
      broadcasts: 'getPace';
      rateCards: 'prices';
    }>,
    Pick<Dependencies, 'now'> {
  blockLists: BlockLists;
}

/** Timeout for the pace: the answer is sent without it. */
const PACE_LIMIT_MS = 2_000;

/** The facts about a message once its body is valid. */
interface Draft {
  recipient: string;
  content: Content;
}

export async function preflightMessage(
  deps: PreflightDependencies,
  request: CheckMessageRequest,
  call: Call,
): Promise<{ fields: Json }> {
  const target = needTarget(request.target);
  const now = deps.now();
  const credential = await deps.credentials.of(target, call);
  const stopped = refusalToSend(credential);
  const reasons = [
    ...(stopped ? [refusal(stopped)] : []),
    ...(await tokenReasons(deps, target, credential)),
  ];
  const draft = readDraft(request, reasons);
  const [verdict, factsOf, pace, messaging_limit] = await Promise.all([
    draft && request.kind === 'template'
      ? templateVerdict(deps, { target, ...draft }, call)
      : undefined,
    draft && readRecipients(deps, target, credential, [draft.recipient], now),
    readPace(deps, target, now, call),
    messagingLimitOf(deps, target, credential, now),
  ]);
  const category = draft && (request.kind === 'template' ? verdict?.category : 'service');
  const facts = draft && factsOf?.(draft.recipient);
  if (verdict) reasons.push(...verdict.reasons);
  if (draft && facts) {
    reasons.push(...recipientReasons(draft.recipient, facts, credential, category, now));
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
  // Only the upstream knows which customers the number has blocked: read if nothing else prevents
  // the send.
  if (facts && deliverableOf(reasons) !== 'no') {
    const list = await deps.blockLists.of(target, credential.access_token, call);
    const blocked = blockReasons(list, facts.ids);
    reasons.push(...(blocked.length > 0 ? blocked : incompleteList(list)));
  }
  const price =
    draft && facts && category
      ? priceOf({ category, at: now, ...draft, ...facts }, await deps.rateCards.prices())
      : null;
  return {
    fields: {
      advice: ADVICE,
      checked_at: now.toISOString(),
      kind: request.kind,
      deliverable: deliverableOf(reasons),
      reasons,
      window: facts?.window ?? null,
      price,
      template: verdict ? describeTemplate(verdict) : null,
      pace,
      messaging_limit,
      broadcast: null,
    },
  };
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

function windowReasons({ state, why }: Window): Reason[] {
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

const describeTemplate = ({ status, category, category_since }: TemplateVerdict): Json => ({
  status: status ?? null,
  category: category ?? null,
  category_since: category_since ?? null,
});

/** Null if broadcasts is not configured or does not answer. */
async function readPace(
  { broadcasts, log }: Pick<PreflightDependencies, 'broadcasts' | 'log'>,
  target: Target,
  now: Date,
  call: Call,
): Promise<Json | null> {
  if (!broadcasts) return null;
  const deadline = Math.min(call.deadline, Date.now() + PACE_LIMIT_MS);
  try {
    const pace = await broadcasts.getPace({ target }, { ...call, deadline });
    return { ...pace, leaves_at: now.toISOString() };
  } catch (error) {
    log.warn({ err: error }, 'failed to read the pace of a number');
    return null;
  }
}
