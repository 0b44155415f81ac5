// Tests a partner's receiver: one event named `webhook.test`, signed and posted at once by the code
// that delivers every event. It is not stored and not retried.
import { missingFields } from '@bmg/common/errors';
import { newId } from '@bmg/common/ids';
import { eventMeta } from '@bmg/common/notices';
import type { Call } from '@bmg/common/rpc';
import type { Logger } from '@bmg/common/telemetry';
import { GetReceiverResponse, ReceiverEndpoint } from '@bmg/proto/onboarding';
import type { SendTestEventRequest, SendTestEventResponse } from '@bmg/proto/webhooks';
import { postAttempt, type Receiver, type Receivers, type Ways } from '../delivery';

/** The partner that tests a receiver, and the URL of the changelog. */
export type TestRequest = SendTestEventRequest;

export interface TestEventDependencies extends Ways {
  receivers: Receivers;
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
  request: TestRequest,
  endpoint: Pick<ReceiverEndpoint, 'url' | 'format' | 'headers' | 'secrets'>,
  call: Call,
): Promise<SendTestEventResponse> => {
  const tested = ReceiverEndpoint.fromPartial({
    ...endpoint,
    endpoint_id: TESTED,
    status: 'active',
  });
  const receiver = GetReceiverResponse.fromPartial({ status: 'active', endpoints: [tested] });
  return post(deps, request, { receiver, endpoint_id: TESTED }, call);
};

async function post(
  deps: TestEventDependencies,
  request: TestRequest,
  { receiver, endpoint_id }: { receiver: Receiver; endpoint_id: string | undefined },
  call: Call,
): Promise<SendTestEventResponse> {
  const event = newTestEvent(request);
  const { event_id } = event;
  const started = performance.now();
  const { result, http_status, error } = await postAttempt(
    { ...event, endpoint_id, waba_id: '', number: 1, span: call.span },
    receiver,
    deps,
    deps.log,
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

export function newTestEvent({ partner_id, changelog }: TestRequest) {
  const received_at_ms = Date.now();
  const event_id = newId('evt', received_at_ms);
  const body = bodyOf(event_id, received_at_ms, changelog);
  return { event_id, event: TEST_EVENT, partner_id, body, received_at_ms };
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
