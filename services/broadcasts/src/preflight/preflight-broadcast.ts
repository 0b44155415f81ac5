// Predicts the creation of a broadcast: reasons to refuse it, contacts that would fail, duration
// and cost. Applies the rules of a creation; stores nothing and sends nothing.
import {
  ADVICE,
  Findings,
  reason,
  refusal,
  templateMisfit,
  type Effect,
  type Reason,
} from '@bmg/common/preflight';
import { refusalToSend, type Credential } from '@bmg/common/directory';
import { ApiError } from '@bmg/common/errors';
import { inTurns } from '@bmg/common/lifecycle';
import { ContactFaults } from '@bmg/common/messages';
import type { Call } from '@bmg/common/rpc';
import { needTarget, type Json } from '@bmg/common/upstream';
import type { CheckBroadcastRequest } from '@bmg/proto/broadcasts';
import type { CheckContactsResponse } from '@bmg/proto/messaging';
import type { Template } from '@bmg/proto/templates';
import { neededApproval } from '../ground/approval';
import { validateRequest, type ValidRequest, waitingRefusal, type WaitingLimit } from '../create';
import { type FoundTemplate, contactFault } from '../template';
import type { ForecastDependencies } from './forecast';
import {
  deliverableOf,
  estimateRun,
  shownReasons,
  summary,
  type BroadcastFindings,
} from './outlook';

type PreflightDependencies = WaitingLimit & Omit<ForecastDependencies, 'chunks' | 'limits'>;

export async function preflightBroadcast(
  deps: PreflightDependencies,
  request: CheckBroadcastRequest,
  call: Call,
): Promise<{ fields: Json }> {
  const target = needTarget(request.target);
  const now = deps.now();
  const found = { refusals: new Findings(), failures: new Findings() };
  const [credential, full] = await Promise.all([
    deps.credentials.of(target, call),
    waitingRefusal(deps, target),
  ]);
  findNumberProblems(request, credential, found);
  if (full) found.refusals.add(refusal(full));
  const valid = await readRequest(request, now, found);
  if (valid && neededApproval(valid.contacts.length, request))
    found.refusals.add(approvalNeeded(request));
  const name = { name: request.template_name, language: request.template_language };
  const [pace, template] = await Promise.all([
    deps.readPace(target, credential),
    valid && deps.findTemplate(target, name, call),
  ]);
  const fitting = valid && template ? await fitContacts(valid, template, name.name, found) : [];
  const known = await deps.messaging.checkContacts(
    {
      target,
      recipients: fitting.map(({ recipient }) => recipient),
      category: template?.template?.category.toLowerCase(),
      at: request.scheduled_at,
    },
    call,
  );
  takeFindings(known, fitting, found);
  const run = valid && estimateRun(pace, request.scheduled_at ?? now, valid.contacts.length, now);
  return {
    fields: {
      advice: ADVICE,
      checked_at: now.toISOString(),
      kind: 'broadcast',
      deliverable: deliverableOf(found, valid),
      reasons: shownReasons(found, valid),
      window: null,
      price: null,
      template: template?.template ? describe(template.template) : null,
      pace: {
        rate_per_sec: pace.rate_per_sec,
        queued: pace.queued,
        leaves_at: run?.ends_at ?? null,
      },
      messaging_limit: known.messaging_limit ?? null,
      broadcast: valid && run ? summary(valid, run, known, found) : null,
    },
  };
}

const approvalNeeded = ({ approval_above }: CheckBroadcastRequest): Reason =>
  reason('note', {
    code: 'APPROVAL_REQUIRED',
    field: 'contacts',
    message: `a broadcast to more than ${approval_above} contacts waits until a second person approves it: the times count from then`,
  });

/**
 * A scheduled broadcast is accepted while its number is paused: it can be active again when due.
 */
function findNumberProblems(
  { scheduled_at }: CheckBroadcastRequest,
  credential: Credential,
  { refusals }: BroadcastFindings,
): void {
  const stopped = refusalToSend(credential);
  const effect: Effect = scheduled_at ? 'unknown' : 'no';
  if (stopped) refusals.add({ ...refusal(stopped), effect });
}

/** Undefined if a creation would refuse the body. */
async function readRequest(
  request: CheckBroadcastRequest,
  now: Date,
  { refusals }: BroadcastFindings,
): Promise<ValidRequest | undefined> {
  for (const fault of request.faults) refusals.add(reason('no', fault), placeOf(fault.field));
  if (request.faults.length > 0) return undefined;
  const faults = new ContactFaults(Infinity);
  try {
    return await validateRequest(request, now, faults);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const all = faults.list().length > 0 ? faults.list() : [error];
    for (const one of all.map(refusal)) refusals.add(one, placeOf(one.field));
    return undefined;
  }
}

const PLACE = /^contacts\[(\d+)\]/;

function placeOf(field: string | null | undefined): number | undefined {
  const place = PLACE.exec(field ?? '')?.[1];
  return place === undefined ? undefined : Number(place);
}

interface FittingContact {
  recipient: string;
  place: number;
}

/** The contacts whose message fits the template. */
async function fitContacts(
  { contacts, places, filler }: ValidRequest,
  { facts, refusal: refused, template }: FoundTemplate,
  name: string,
  { refusals, failures }: BroadcastFindings,
): Promise<FittingContact[]> {
  if (refused) refusals.add(refusal(refused));
  else if (!facts) {
    const message = `the template ${name} could not be looked up`;
    refusals.add(reason('unknown', { code: 'TEMPLATE_UNKNOWN', field: 'template_name', message }));
  }
  const fitting: FittingContact[] = [];
  await inTurns(contacts, (contact, at) => {
    const place = places[at] as number;
    const fault = facts && contactFault(facts, contact, place, filler);
    const misfit =
      facts && template && templateMisfit(template.components, filler.fill(contact.params));
    if (fault) refusals.add(refusal(fault), place);
    else if (misfit) failures.add(misfit, place);
    else fitting.push({ recipient: contact.recipient, place });
  });
  return fitting;
}

/** Places in the answer are those among `fitting`; reasons without places concern the number. */
function takeFindings(
  { findings }: CheckContactsResponse,
  fitting: readonly FittingContact[],
  { refusals, failures }: BroadcastFindings,
): void {
  for (const { effect, places, examples, ...about } of findings) {
    const found = reason(effect as Effect, about);
    if (places.length === 0) refusals.add(found);
    for (const [at, place] of places.entries()) {
      const message = examples[at]?.message ?? found.message;
      failures.add({ ...found, message }, fitting[place]?.place);
    }
  }
}

const describe = ({ status, category, category_since }: Template): Json => ({
  status,
  category: category.toLowerCase(),
  category_since: category_since?.toISOString() ?? null,
});
