// Sends of broadcasts, whose outcome can be settled after the caller, or this process, was killed.
//
// A request id is the send of one contact; the caller numbers its attempts. Before an attempt leaves, it is
// claimed: a conditional write to a document that all replicas share and that survives their restarts.
//
// | Stored under the request id | What is certain | SettleSends returns |
// |---|---|---|
// | nothing | no replica has let an attempt go | fences it, then `not_sent` |
// | fenced at attempt n | no attempt up to n was sent, and a late arrival is refused | `not_sent` up to n |
// | claimed, with a message record | the upstream accepted it | `sent`, with the message id |
// | claimed, without one | it may be on its way, or its process died | `unknown` |
//
// Both writes are conditional on the same document, so either the claim or the fence wins, in whatever
// order a paused process or a slow network delivers them. The caller starts another attempt only after
// `not_sent`, or after an error that says that the upstream was not reached or refused to send for now; such
// an error also releases the claim, in case the caller did not receive it. What stays unknown is a claim
// whose process died before it recorded the answer and whose status event does not arrive.
//
// That window cannot be closed, only kept short: the last write before a request may be stored although the
// process dies before its acknowledgement, and the upstream does not deduplicate requests or look them up.
// The window is the time from the write of the claim to its acknowledgement, mostly the flush of the journal,
// and one turn of the event loop: the request is encoded, and its connection open, before. A kill leaves about (sends per second) x (that time)
// contacts unknown.
import { ApiError } from '@bmg/common/errors';
import { pause } from '@bmg/common/lifecycle';
import type { Call } from '@bmg/common/rpc';
import type { Logger } from '@bmg/common/telemetry';
import { needTarget } from '@bmg/common/upstream';
import type { SendClaimedMessageRequest, SendResult } from '@bmg/proto/messaging';
import type { Attempt, ClaimScope, SendClaims } from '../store/send-claims';
import { templateContent } from './content';
import { send, type SendDependencies } from './send';

export interface ClaimedSendDependencies extends SendDependencies {
  sendClaims: Pick<SendClaims, 'claim' | 'release'>;
}

export function sendClaimed(
  deps: ClaimedSendDependencies,
  q: SendClaimedMessageRequest,
  call: Call,
): Promise<SendResult> {
  const { request_id, attempt } = q;
  if (request_id === '' || attempt < 1) {
    throw new ApiError('INVALID_FIELD', 'request_id and attempt are required');
  }
  const { partner_id, waba_id } = needTarget(q.target);
  const upstream = claiming(deps, { partner_id, waba_id }, { request_id, attempt });
  return send({ ...deps, upstream }, q, templateContent(q.template), call);
}

/**
 * Claims the attempt when the request is encoded and its connection is open: only the write of its bytes is
 * left between the acknowledgement of the claim and the upstream.
 */
function claiming(
  deps: ClaimedSendDependencies,
  scope: ClaimScope,
  attempt: Attempt,
): ClaimedSendDependencies['upstream'] {
  const { upstream, sendClaims, log } = deps;
  return {
    ...upstream,
    async request(request, call) {
      let claim: Promise<void> | undefined;
      const beforeWrite = (): Promise<void> => (claim = claimAttempt(deps, scope, attempt));
      try {
        return await upstream.request({ ...request, beforeWrite }, call);
      } catch (error) {
        // The claim may still be on its way to the database when the connection breaks.
        if (certainlyNotSent(error)) {
          void claim?.then(
            () => releaseClaim(sendClaims, attempt, log),
            () => undefined,
          );
        }
        throw error;
      }
    },
  };
}

async function claimAttempt(
  { sendClaims, log }: ClaimedSendDependencies,
  scope: ClaimScope,
  attempt: Attempt,
): Promise<void> {
  const granted = await sendClaims.claim(scope, attempt).catch((cause: unknown) => {
    void releaseClaim(sendClaims, attempt, log);
    // The claim may be stored, but nothing is sent under it. A later attempt is claimed as usual.
    throw new ApiError('SERVICE_UNAVAILABLE', 'the send could not be claimed: nothing was sent', {
      retryable: true,
      cause,
    });
  });
  if (granted) return;
  // An earlier arrival of this attempt may have been sent: the caller settles it.
  throw new ApiError('SERVER_ERROR', 'the attempt was claimed or fenced before', {
    details: { outcome: 'unknown' },
  });
}

const RELEASE_TRIES_MAX = 30;
const RELEASE_RETRY_MS = 1_000;

/** In the background: an unreleased claim only leaves its outcome unknown to a caller that lost the error. */
async function releaseClaim(
  sendClaims: ClaimedSendDependencies['sendClaims'],
  attempt: Attempt,
  log: Logger,
): Promise<void> {
  for (let tries = 1; tries <= RELEASE_TRIES_MAX; tries += 1) {
    try {
      return await sendClaims.release(attempt);
    } catch (err) {
      if (tries === RELEASE_TRIES_MAX) log.warn({ err }, 'failed to release the claim of a send');
      await pause(RELEASE_RETRY_MS);
    }
  }
}

/** Limits of the number's rate and of one recipient: refused before anything is sent. */
const TRY_LATER = new Set<number | undefined>([130_429, 131_056]);

/** Other refusals of the upstream are final: a repeat would only be refused again. */
const certainlyNotSent = (error: unknown): boolean =>
  error instanceof ApiError &&
  (TRY_LATER.has(error.upstream_code) || (error.upstream_code === undefined && error.retryable));
