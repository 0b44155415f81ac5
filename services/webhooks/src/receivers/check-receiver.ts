// Tests receivers with one event named `webhook.test`, which is not stored and not retried: that of
// an endpoint before it is stored or changed, and any on request. A URL must answer the event,
// signed and posted by the code that delivers every event, with 2xx. A destination must be
// reachable, accept the credentials, and store it.
import { ApiError, invalidField, missingFields } from '@bmg/common/errors';
import { newId } from '@bmg/common/ids';
import { TEST_EVENT } from '@bmg/common/messages';
import { eventMeta } from '@bmg/common/notices';
import type { Pool } from '@bmg/common/overload';
import type { Call, Client } from '@bmg/common/rpc';
import type { Logger } from '@bmg/common/telemetry';
import type { CheckResponse, DestinationsDefinition } from '@bmg/proto/destinations';
import type { TestEndpointResponse } from '@bmg/proto/endpoints';
import { GetReceiverResponse, ReceiverEndpoint } from '@bmg/proto/onboarding';
import type { SendTestEventRequest } from '@bmg/proto/webhooks';
import { outgoingEvent, postAttempt, type Receiver, type Receivers, type Ways } from '../delivery';

/** The part of an endpoint that is tested, with everything that is secret. */
export type TestedReceiver = Pick<ReceiverEndpoint, 'url' | 'secrets' | 'headers' | 'format'> &
  Partial<Pick<ReceiverEndpoint, 'destination'>>;

interface TestEventDependencies extends Ways {
  receivers: Receivers;
  log: Logger;
}

export interface CheckDependencies extends TestEventDependencies {
  destinationChecks: Pick<Client<DestinationsDefinition>, 'check'>;
  /** Tests of destinations in flight: each has connections of its own. */
  tests: Pool;
}

/** Stands for the endpoint in its test, which may have no ID yet. */
const TESTED = 'test';

/** A partner has two of them at most. */
export const TESTS = {
  server: 'webhooks',
  reason: 'destination_tests',
  holder: 'partner',
  max: 16,
  share: 1 / 8,
} as const;

/** Throws INVALID_FIELD naming `url` or the setting of the destination, with the reason. */
export async function checkReceiver(
  deps: CheckDependencies,
  request: SendTestEventRequest,
  receiver: TestedReceiver,
  call: Call,
): Promise<void> {
  if (receiver.destination) return checkDestination(deps, request, receiver, call);
  const answer = await postTestEvent(deps, request, receiver, call);
  if (answer.delivered) return;
  throw new ApiError('INVALID_FIELD', `url ${refusalOf(answer)}`, {
    details: {
      field: 'url',
      reason: answer.error ?? 'refused',
      http_status: answer.http_status ?? null,
    },
  });
}

const refusalOf = ({ http_status, error }: TestEndpointResponse): string =>
  http_status === undefined
    ? `could not be reached with a test event (${error ?? 'failed'}): make it reachable, then try again`
    : `answered a test event with HTTP ${http_status}: it must answer 2xx`;

async function checkDestination(
  deps: CheckDependencies,
  request: SendTestEventRequest,
  receiver: TestedReceiver,
  call: Call,
): Promise<void> {
  const { outcome, fault } = await storeTestEvent(deps, newTestEvent(request), receiver, call);
  if (fault) throw invalidField(`destination.${fault.setting}`, fault.problem);
  if (outcome?.is_stored) return;
  const reason = outcome?.error ?? 'failed';
  throw invalidField('destination', `did not store the event webhook.test: ${reason}`, { reason });
}

/** Sends a test event at once, and returns how it went. */
export async function testReceiver(
  deps: CheckDependencies,
  request: SendTestEventRequest,
  receiver: TestedReceiver,
  call: Call,
): Promise<TestEndpointResponse> {
  if (!receiver.destination) return postTestEvent(deps, request, receiver, call);
  return tested(newTestEvent(request), async (event) => {
    const { outcome, fault } = await storeTestEvent(deps, event, receiver, call);
    return {
      delivered: outcome?.is_stored === true,
      error: fault ? `${fault.setting} ${fault.problem}` : outcome?.error || undefined,
    };
  });
}

type TestEvent = ReturnType<typeof newTestEvent>;

async function tested(
  event: TestEvent,
  send: (
    event: TestEvent,
  ) => Promise<Pick<TestEndpointResponse, 'delivered' | 'http_status' | 'error'>>,
): Promise<TestEndpointResponse> {
  const started = performance.now();
  const answer = await send(event);
  const duration_ms = Math.round(performance.now() - started);
  return { event_id: event.event_id, event: TEST_EVENT, duration_ms, ...answer };
}

/** The connector uses a client of its own, so that a test does not disturb the deliveries. */
async function storeTestEvent(
  { destinationChecks, tests }: CheckDependencies,
  event: TestEvent,
  { destination, format }: TestedReceiver,
  call: Call,
): Promise<CheckResponse> {
  const { partner_id } = event;
  return tests.run(partner_id, tooManyTests, () => {
    const test = { partner_id, destination, event: outgoingEvent(event, format) };
    return destinationChecks.check(test, { ...call, route: partner_id });
  });
}

const tooManyTests = (): ApiError =>
  new ApiError(
    'RATE_LIMIT_EXCEEDED',
    'too many destinations are being tested: try again in a moment',
  );

/** Returns how the receiver responded; MISSING_FIELDS if the partner has no webhook URL. */
export const sendTestEvent =
  (deps: TestEventDependencies) =>
  async (request: SendTestEventRequest, call: Call): Promise<TestEndpointResponse> => {
    const { partner_id } = request;
    const receiver = await deps.receivers.of(partner_id, call.span, call.signal);
    if (!receiver.webhook_url) {
      throw missingFields(['webhook_url'], 'no webhook_url is set: set one, then test it');
    }
    return post(deps, request, { receiver, endpoint_id: undefined }, call);
  };

/** Tests an endpoint of the partner, stored or not. */
const postTestEvent = (
  deps: TestEventDependencies,
  request: SendTestEventRequest,
  endpoint: Pick<ReceiverEndpoint, 'url' | 'format' | 'headers' | 'secrets'>,
  call: Call,
): Promise<TestEndpointResponse> => {
  const tested = ReceiverEndpoint.fromPartial({
    ...endpoint,
    endpoint_id: TESTED,
    status: 'active',
  });
  const receiver = GetReceiverResponse.fromPartial({ status: 'active', endpoints: [tested] });
  return post(deps, request, { receiver, endpoint_id: TESTED }, call);
};

const post = (
  deps: TestEventDependencies,
  request: SendTestEventRequest,
  { receiver, endpoint_id }: { receiver: Receiver; endpoint_id: string | undefined },
  call: Call,
): Promise<TestEndpointResponse> =>
  tested(newTestEvent(request), async (event) => {
    const attempt = { ...event, endpoint_id, waba_id: '', number: 1, span: call.span };
    const { result, http_status, error } = await postAttempt(attempt, receiver, deps, deps.log);
    return { delivered: result === 'delivered', http_status, error: error ?? undefined };
  });

function newTestEvent({ partner_id, changelog }: SendTestEventRequest) {
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
