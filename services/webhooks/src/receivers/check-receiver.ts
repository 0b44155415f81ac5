// Checks the receiver of an endpoint before it is stored or changed, and tests it on request: a URL must
// answer a signed test event with 2xx; a destination must be reachable, accept the credentials, and store a
// test event.
import { ApiError, invalidField } from '@bmg/common/errors';
import type { Pool } from '@bmg/common/overload';
import type { Call, Client } from '@bmg/common/rpc';
import type { Destination } from '@bmg/proto/common';
import type { CheckResponse, DestinationsDefinition } from '@bmg/proto/destinations';
import type { TestEndpointResponse } from '@bmg/proto/endpoints';
import { outgoingEvent } from '../delivery';
import {
  newTestEvent,
  postTestEvent,
  type TestEventDependencies,
  type TestRequest,
} from './test-event';

/** The part of an endpoint that is tested, with everything that is secret. */
export interface TestedReceiver {
  url: string;
  secrets: string[];
  headers: Record<string, string>;
  format: string;
  /** Instead of a URL. */
  destination?: Destination | undefined;
}

export interface CheckDependencies extends TestEventDependencies {
  destinationChecks: Pick<Client<DestinationsDefinition>, 'check'>;
  /** Tests of destinations in flight: each has connections of its own. */
  tests: Pool;
}

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
  request: TestRequest,
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
  request: TestRequest,
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
  request: TestRequest,
  receiver: TestedReceiver,
  call: Call,
): Promise<TestEndpointResponse> {
  if (!receiver.destination) return postTestEvent(deps, request, receiver, call);
  const event = newTestEvent(request);
  const started = performance.now();
  const { outcome, fault } = await storeTestEvent(deps, event, receiver, call);
  return {
    event_id: event.event_id,
    event: event.event,
    delivered: outcome?.is_stored === true,
    http_status: undefined,
    duration_ms: Math.round(performance.now() - started),
    error: fault ? `${fault.setting} ${fault.problem}` : outcome?.error || undefined,
  };
}

/** The connector uses a client of its own: a test neither uses nor disturbs that of the deliveries. */
async function storeTestEvent(
  { destinationChecks, tests }: CheckDependencies,
  event: ReturnType<typeof newTestEvent>,
  { destination, format }: TestedReceiver,
  call: Call,
): Promise<CheckResponse> {
  const { partner_id } = event;
  if (!tests.take(partner_id)) {
    throw new ApiError(
      'RATE_LIMIT_EXCEEDED',
      'too many destinations are being tested: try again in a moment',
    );
  }
  try {
    const test = { partner_id, destination, event: outgoingEvent(event, format) };
    return await destinationChecks.check(test, { ...call, route: partner_id });
  } finally {
    tests.give(partner_id);
  }
}
