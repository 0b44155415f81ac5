// Posts a copy of an event to a shadow, once, signed with the shadow's own secret. Nothing of it
// enters the figures, the log, the retries or the health of deliveries.
import { pause } from '@bmg/common/lifecycle';
import type { GuardedAgent } from '@bmg/common/outbound';
import {
  endSpan,
  metrics,
  SpanKind,
  startSpan,
  traceIds,
  type Logger,
} from '@bmg/common/telemetry';
import type { ReceiverShadow } from '@bmg/proto/onboarding';
import { kindOf, type Answer } from './answers';
import {
  type Attempt,
  MaxRate,
  postSigned,
  type Receiver,
  type Receivers,
  VERSION_TTL_MS,
} from '../delivery';

export interface PostDependencies {
  agent: GuardedAgent;
  receivers: Pick<Receivers, 'of'>;
  log: Logger;
}

/** The shadow has ended, or its partner is no longer active. */
export class ShadowEnded extends Error {
  override readonly name = 'ShadowEnded';
}

export interface ShadowPost {
  shadow_id: string;
  attempt: Attempt;
  /** The part of the shadow's rate that belongs to this process. */
  part: number;
  /** Aborted when the process stops. */
  stopped: AbortSignal;
}

/**
 * Posts in the order of the calls, at the shadow's rate. Resolves with the answer, or undefined if
 * the process stops first. Rejects with ShadowEnded, or if the directory is unreachable.
 */
export function createShadowPosts({ agent, receivers, log }: PostDependencies) {
  const rate = new MaxRate();
  return async ({ shadow_id, attempt, part, stopped }: ShadowPost): Promise<Answer | undefined> => {
    const look = (): Promise<Receiver> => receivers.of(attempt.partner_id, attempt.span, stopped);
    let receiver = await look();
    if (!runs(receiver, shadow_id)) {
      // A shadow that has just started may be missing in what still counts as current.
      await pause(VERSION_TTL_MS, stopped);
      receiver = await look();
    }
    const { shadow } = receiver;
    if (!shadow || !runs(receiver, shadow_id)) throw new ShadowEnded();
    const now = Date.now();
    await pause(rate.reserve(shadow_id, shadow.max_per_second * part, now) - now, stopped);
    if (stopped.aborted) return undefined;
    return post({ agent, log }, attempt, shadow, formatOf(receiver, shadow.endpoint_id));
  };
}

const runs = ({ shadow, status }: Receiver, shadow_id: string): boolean =>
  shadow?.shadow_id === shadow_id && status === 'active';

export type PostToShadow = ReturnType<typeof createShadowPosts>;

async function post(
  { agent, log }: Pick<PostDependencies, 'agent' | 'log'>,
  attempt: Attempt,
  { shadow_id, url, secret, headers }: ReceiverShadow,
  format: string,
): Promise<Answer | undefined> {
  const { event_id, partner_id, event } = attempt;
  const span = startSpan(`shadow ${event}`, {
    kind: SpanKind.PRODUCER,
    parent: attempt.span,
    attributes: { 'bmg.event': event },
  });
  const context = span.spanContext();
  const started = performance.now();
  const { http_status = null, error } = await postSigned(
    { ...attempt, endpoint_id: shadow_id },
    { url, secrets: [secret], format, headers },
    agent,
    context,
  );
  const duration_ms = Math.round(performance.now() - started);
  endSpan(span, error === null ? undefined : { code: error });
  // Cancelled by a shutdown: no answer of the receiver.
  if (error === 'aborted') return undefined;
  const answer = { http_status, error, duration_ms };
  const outcome = kindOf(answer);
  metrics.shadow_deliveries.inc({ outcome });
  log.info(
    { event_id, partner_id, shadow_id, event, outcome, duration_ms, ...traceIds(context) },
    'shadow delivery',
  );
  return answer;
}

/** A shadow gets the form that its first receiver gets. */
export const formatOf = ({ endpoints }: Receiver, endpoint_id: string | undefined): string =>
  endpoints.find((one) => one.endpoint_id === endpoint_id)?.format ?? 'envelope';
