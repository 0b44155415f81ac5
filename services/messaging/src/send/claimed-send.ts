// Sends of broadcasts, whose outcome can be settled after the caller, or this process, was killed.
//
// A request id is the send of one contact; the caller numbers its attempts. Before an attempt
// leaves, it is claimed: a conditional write to a document that all replicas share and that
// survives their restarts.
//
// | Stored under the request id | What is certain | SettleSends returns |
// |---|---|---|
// | nothing | no replica has let an attempt go | fences it, then `not_sent` |
// | fenced at attempt n | no attempt up to n was sent, and a late arrival is refused | `not_sent` up to n |
// | claimed, with a message record | the upstream accepted it | `sent`, with the message id |
// | claimed, without one | it may be on its way, or its process died | `unknown`, unless the journal proves more |
//
// Both writes are conditional on the same document, so either the claim or the fence wins, in
// whatever order a paused process or a slow network delivers them. The caller starts another
// attempt only after `not_sent`, or after an error that says that the upstream was not reached or
// refused to send for now; such an error also releases the claim, in case the caller did not
// receive it.
//
// A process that is killed leaves its journal (../send-journal/). There an attempt is noted before
// its claim, and marked right before its first byte leaves: the request is encoded, and its
// connection open, before. The process that starts after the kill releases the claims that are
// noted and not marked. What stays unknown is a marked claim whose process died before it recorded
// the answer, and whose status event does not arrive: the upstream does not deduplicate requests or
// look them up. Without the journal (no folder for it, another machine, a full disk) the same holds
// for every claim of the killed process.
import { ApiError } from '@bmg/common/errors';
import { settleClaim } from '@bmg/common/mongo';
import type { Call } from '@bmg/common/rpc';
import { needTarget } from '@bmg/common/upstream';
import type { SendClaimedMessageRequest, SendResult } from '@bmg/proto/messaging';
import type { JournalEntry } from '../send-journal';
import type { Attempt, ClaimScope } from '../claims';
import { templateContent } from './content';
import { send, type SendDependencies } from './send';
import type { Needs } from '../dependencies';

export type ClaimedSendDependencies = SendDependencies &
  Needs<{ sendClaims: 'claim' | 'release'; sendJournal: 'note' }>;

export function sendClaimed(
  deps: ClaimedSendDependencies,
  request: SendClaimedMessageRequest,
  call: Call,
): Promise<SendResult> {
  const { request_id, attempt } = request;
  if (request_id === '' || attempt < 1) {
    throw new ApiError('INVALID_FIELD', 'request_id and attempt are required');
  }
  const { partner_id, waba_id } = needTarget(request.target);
  const upstream = claiming(deps, { partner_id, waba_id }, { request_id, attempt });
  return send({ ...deps, upstream }, request, templateContent(request), call);
}

/**
 * Claims the attempt when the request is encoded and its connection is open: only the write of its
 * bytes is left between the acknowledgement of the claim and the upstream.
 */
function claiming(
  deps: ClaimedSendDependencies,
  scope: ClaimScope,
  attempt: Attempt,
): ClaimedSendDependencies['upstream'] {
  const { upstream, sendJournal } = deps;
  return {
    ...upstream,
    async request(request, call) {
      let entry: JournalEntry | undefined;
      let claim: Promise<void> | undefined;
      const beforeWrite = async (): Promise<void> => {
        entry = sendJournal.note({ ...scope, ...attempt });
        await (claim = claimAttempt(deps, scope, attempt, entry));
        entry?.leaving();
      };
      try {
        const answer = await upstream.request({ ...request, beforeWrite }, call);
        entry?.end();
        return answer;
      } catch (error) {
        // The claim may still be on its way to the database when the connection breaks.
        void ended(deps, { attempt, entry, claim, not_sent: certainlyNotSent(error) });
        throw error;
      }
    },
  };
}

interface Ended {
  attempt: Attempt;
  entry: JournalEntry | undefined;
  /** Rejects if it was refused, or was released when it failed. */
  claim: Promise<void> | undefined;
  not_sent: boolean;
}

/** In the background. The note outlives the claim that it may have to prove wrong. */
async function ended(
  deps: ClaimedSendDependencies,
  { attempt, entry, claim, not_sent }: Ended,
): Promise<void> {
  if (!claim) return;
  try {
    await claim;
    if (not_sent) await releaseClaim(deps, attempt, entry);
  } catch {
    // claimAttempt has ended the note.
    return;
  }
  entry?.end();
}

async function claimAttempt(
  deps: ClaimedSendDependencies,
  scope: ClaimScope,
  attempt: Attempt,
  entry: JournalEntry | undefined,
): Promise<void> {
  const granted = await deps.sendClaims.claim(scope, attempt, entry?.id).catch((cause: unknown) => {
    void releaseClaim(deps, attempt, entry).then(() => entry?.end());
    // The claim may be stored, but nothing is sent under it. A later attempt is claimed as usual.
    throw new ApiError('SERVICE_UNAVAILABLE', 'the send could not be claimed: nothing was sent', {
      retryable: true,
      cause,
    });
  });
  if (granted) return;
  entry?.end();
  // An earlier arrival of this attempt may have been sent: the caller settles it.
  throw new ApiError('SERVER_ERROR', 'the attempt was claimed or fenced before', {
    details: { outcome: 'unknown' },
  });
}

/** In the background: a caller that lost the error only takes an unreleased claim as unknown. */
const releaseClaim = (
  { sendClaims, log }: Pick<ClaimedSendDependencies, 'sendClaims' | 'log'>,
  attempt: Attempt,
  entry: JournalEntry | undefined,
): Promise<void> => settleClaim(() => sendClaims.release(attempt, entry?.id), log);

/** Limits of the number's rate and of one recipient: refused before anything is sent. */
const TRY_LATER = new Set<number | undefined>([130_429, 131_056]);

/** Other refusals of the upstream are final: a repeat would only be refused again. */
const certainlyNotSent = (error: unknown): boolean =>
  error instanceof ApiError &&
  (TRY_LATER.has(error.upstream_code) || (error.upstream_code === undefined && error.retryable));
