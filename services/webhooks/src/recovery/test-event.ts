// A test of a partner's receiver: one event of its own name, signed and posted now by the same code as any
// other, so that what the partner sees is what its events will meet. It is not kept and not tried again.
import { ApiError } from '@bmg/common/errors';
import { newId } from '@bmg/common/ids';
import { eventMeta } from '@bmg/common/notices';
import type { GuardedAgent } from '@bmg/common/outbound';
import type { Call } from '@bmg/common/rpc';
import type { Logger } from '@bmg/common/telemetry';
import type { SendTestEventRequest, SendTestEventResponse } from '@bmg/proto/webhooks';
import { attempt } from '../delivery/attempt';
import type { Receivers } from '../delivery/receivers';

export interface TestEventDependencies {
  receivers: Receivers;
  agent: GuardedAgent;
  log: Logger;
}

/** No event of the contract: a receiver passes over names that it does not know. */
export const TEST_EVENT = 'webhook.test';
const NEVER = new AbortController().signal;

export const sendTestEvent =
  ({ receivers, agent, log }: TestEventDependencies) =>
  async (
    { partner_id, changelog }: SendTestEventRequest,
    call: Call,
  ): Promise<SendTestEventResponse> => {
    const receiver = await receivers.of(partner_id, call.span, call.signal ?? NEVER);
    if (!receiver.webhook_url) {
      throw new ApiError('MISSING_FIELDS', 'there is no webhook URL to post to: set it first', {
        details: { fields: ['webhook_url'] },
      });
    }
    const received_at_ms = Date.now();
    const event_id = newId('evt', received_at_ms);
    const started = performance.now();
    const { result, http_status, error } = await attempt(
      {
        event_id,
        partner_id,
        event: TEST_EVENT,
        body: bodyOf(event_id, received_at_ms, changelog),
        received_at_ms,
        attempt: 1,
        span: call.span,
      },
      receiver,
      agent,
      log,
    );
    return {
      event_id,
      event: TEST_EVENT,
      delivered: result === 'delivered',
      http_status,
      duration_ms: Math.round(performance.now() - started),
      error: error ?? undefined,
    };
  };

/** The envelope of every event; it is about no account and no number. */
function bodyOf(event_id: string, at_ms: number, changelog: string): Buffer {
  return Buffer.from(
    JSON.stringify({
      event: TEST_EVENT,
      waba_id: null,
      phone_number_id: null,
      timestamp: Math.floor(at_ms / 1_000),
      data: { text: 'A test of your webhook URL. Nothing has happened.' },
      meta: { ...eventMeta(changelog), event_id },
    }),
    'utf8',
  );
}
