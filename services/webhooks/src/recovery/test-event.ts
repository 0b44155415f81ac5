// Tests a partner's receiver: one event named `webhook.test`, signed and posted at once by the code
// that delivers every event. It is not stored and not retried.
import { missingFields } from '@bmg/common/errors';
import { newId } from '@bmg/common/ids';
import { eventMeta } from '@bmg/common/notices';
import type { GuardedAgent } from '@bmg/common/outbound';
import type { Call } from '@bmg/common/rpc';
import type { Logger } from '@bmg/common/telemetry';
import { ReceiverEndpoint } from '@bmg/proto/onboarding';
import type { SendTestEventRequest, SendTestEventResponse } from '@bmg/proto/webhooks';
import { postAttempt } from '../delivery/attempt';
import type { Receiver, Receivers } from '../delivery/receivers';

export interface TestEventDependencies {
  receivers: Receivers;
  agent: GuardedAgent;
  log: Logger;
}

/** Not an event of the contract: receivers ignore names that they do not know. */
export const TEST_EVENT = 'webhook.test';
/** Stands for the endpoint in its test, which may have no ID yet. */
const TESTED = 'test';

/** Returns how the receiver responded; MISSING_FIELDS if the partner has no webhook URL. */
export const sendTestEvent =
  (deps: TestEventDependencies) =>
  async (request: SendTestEventRequest, call: Call): Promise<SendTestEventResponse> => {
    const { partner_id } = request;
    const receiver = await deps.receivers.of(partner_id, call.span, call.signal);
    if (!receiver.webhook_url) {
      throw missingFields(['webhook_url'], 'no webhook_url is set: set one, then test it');
    }
    return post(deps, request, { receiver, endpoint_id: undefined }, call);
  };

/** Tests an endpoint of the partner, stored or not. */
export const postTestEvent = (
  deps: TestEventDependencies,
  request: SendTestEventRequest,
  endpoint: Pick<ReceiverEndpoint, 'url' | 'format' | 'headers' | 'secrets'>,
  call: Call,
): Promise<SendTestEventResponse> => {
  const tested = ReceiverEndpoint.fromPartial({
    ...endpoint,
    endpoint_id: TESTED,
    status: 'active',
  });
  const receiver = { status: 'active', webhook_secrets: [], endpoints: [tested] };
  return post(
    deps,
    request,
    { receiver: { webhook_url: undefined, ...receiver }, endpoint_id: TESTED },
    call,
  );
};

async function post(
  { agent, log }: TestEventDependencies,
  { partner_id, changelog }: SendTestEventRequest,
  { receiver, endpoint_id }: { receiver: Receiver; endpoint_id: string | undefined },
  call: Call,
): Promise<SendTestEventResponse> {
  const received_at_ms = Date.now();
  const event_id = newId('evt', received_at_ms);
  const started = performance.now();
  const { result, http_status, error } = await postAttempt(
    {
      event_id,
      partner_id,
      endpoint_id,
      event: TEST_EVENT,
      waba_id: '',
      body: bodyOf(event_id, received_at_ms, changelog),
      received_at_ms,
      number: 1,
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
}

/** The envelope of every event; a test concerns no business account and no number. */
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
