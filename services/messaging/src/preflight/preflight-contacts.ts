// Predicts the sends of a template to many contacts, and their cost: this service's part of a
// broadcast's pre-flight. Sends nothing.
import { Findings, reason, type Finding } from '@bmg/common/preflight';
import { inTurns } from '@bmg/common/lifecycle';
import type { Call } from '@bmg/common/rpc';
import { needTarget } from '@bmg/common/upstream';
import type {
  CheckContactsRequest,
  CheckContactsResponse,
  CheckContactsResponse_Finding,
} from '@bmg/proto/messaging';
import { blockReasons, incompleteList } from './block-list';
import type { PreflightDependencies } from './preflight-message';
import { CostSum, priceOf } from './cost';
import { messagingLimitOf, tokenReasons, type MessagingLimit } from './number';
import { readRecipients, recipientReasons } from './recipients';

export async function preflightContacts(
  deps: PreflightDependencies,
  { recipients, category, ...request }: CheckContactsRequest,
  call: Call,
): Promise<CheckContactsResponse> {
  const target = needTarget(request.target);
  const now = deps.now();
  const at = request.at ?? now;
  const credential = await deps.credentials.of(target, call);
  const dead = await tokenReasons(deps, target, credential);
  const [list, factsOf, prices, messaging_limit] = await Promise.all([
    dead.length > 0 ? undefined : deps.blockLists.of(target, credential.access_token, call),
    readRecipients(deps, target, credential, recipients, at),
    deps.rateCards.prices(),
    messagingLimitOf(deps, target, credential, now),
  ]);
  const findings = new Findings();
  for (const one of [...dead, ...(list ? incompleteList(list) : [])]) findings.add(one);
  const windows = { open: 0, closed: 0, unknown: 0 };
  const cost = new CostSum();
  await inTurns(recipients, (recipient, place) => {
    const facts = factsOf(recipient);
    windows[facts.window.state] += 1;
    const known = recipientReasons(recipient, facts, credential, category, now);
    const reasons = known.length > 0 || !list ? known : blockReasons(list, facts.ids);
    for (const one of reasons) findings.add(one, place);
    // A message that does not arrive is not billed.
    if (reasons.length > 0 || category === undefined) return;
    cost.add(priceOf({ category, recipient, at, window: facts.window }, prices));
  });
  const excess = excessOf(messaging_limit, recipients.length - windows.open);
  if (excess) findings.add(excess);
  return {
    findings: findings.list().map(findingToWire),
    windows,
    ...(category !== undefined && { cost: { ...cost.total() } }),
    messaging_limit: { ...messaging_limit },
  };
}

/** `outside`: customers without an open window, for which the limit counts. */
const excessOf = ({ left }: MessagingLimit, outside: number) =>
  left === null || outside <= left
    ? undefined
    : reason('note', {
        code: 'MESSAGING_LIMIT',
        field: 'contacts',
        message: `${outside} contacts are outside an open window, and the number may write to ${left} more in these 24 hours`,
      });

const findingToWire = ({ reason, ...rest }: Finding): CheckContactsResponse_Finding => ({
  ...rest,
  code: reason.code,
  effect: reason.effect,
  field: reason.field ?? undefined,
  message: reason.message,
  upstream_code: reason.upstream_code ?? undefined,
  examples: rest.examples.map(({ place, message }) => ({ place, message })),
});
