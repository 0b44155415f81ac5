// Checks the receiver of an endpoint before it is stored or changed, and tests it on request: a URL must
// answer a signed test event with 2xx; a destination must be reachable, accept the credentials, and store a
// test event.
import { DestinationError, type DestinationType } from '@bmg/common/destinations';
import { ApiError, invalidField } from '@bmg/common/errors';
import type { Pool } from '@bmg/common/overload';
import type { Call } from '@bmg/common/rpc';
import type { Destination } from '@bmg/proto/common';
import type { TestEndpointResponse } from '@bmg/proto/endpoints';
import { destinationEvent } from '../delivery/destination-attempt';
import { CHECK_LIMIT_MS, type DestinationGuard, type Sent } from '../destinations/destination';
import { openDestination } from '../destinations/kinds';
import {
  newTestEvent,
  postTestEvent,
  type TestEventDependencies,
  type TestRequest,
} from '../recovery/test-event';

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
  guard: DestinationGuard;
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
  if (receiver.destination) return checkDestination(deps, request, receiver);
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
): Promise<void> {
  const sent = await storeTestEvent(deps, newTestEvent(request), receiver).catch(
    (error: unknown) => {
      if (!(error instanceof DestinationError)) throw error;
      throw invalidField(`destination.${error.setting}`, error.problem);
    },
  );
  if (sent.ok) return;
  throw invalidField('destination', `did not store the event webhook.test: ${sent.error}`, {
    reason: sent.error,
  });
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
  const sent = await storeTestEvent(deps, event, receiver).catch((error: unknown) => {
    if (!(error instanceof DestinationError)) throw error;
    return { ok: false as const, error: error.message };
  });
  return {
    event_id: event.event_id,
    event: event.event,
    delivered: sent.ok,
    http_status: undefined,
    duration_ms: Math.round(performance.now() - started),
    error: sent.ok ? undefined : sent.error,
  };
}

async function storeTestEvent(
  { guard, tests }: CheckDependencies,
  event: ReturnType<typeof newTestEvent>,
  receiver: TestedReceiver,
): Promise<Sent> {
  if (!tests.take(event.partner_id)) {
    throw new ApiError(
      'RATE_LIMIT_EXCEEDED',
      'too many destinations are being tested: try again in a moment',
    );
  }
  try {
    return await storeIn(guard, event, receiver);
  } finally {
    tests.give(event.partner_id);
  }
}

/** With a client of its own: a test neither uses nor disturbs that of the deliveries. */
async function storeIn(
  guard: DestinationGuard,
  event: ReturnType<typeof newTestEvent>,
  { destination, format }: TestedReceiver,
): Promise<Sent> {
  const { type = '', settings = {} } = destination ?? {};
  const signal = AbortSignal.timeout(CHECK_LIMIT_MS);
  // The registry has checked the type.
  const opened = await openDestination(type as DestinationType, settings, guard);
  try {
    await opened.check(signal);
    const [sent] = await opened.send([destinationEvent(event, format)], signal);
    return sent as Sent;
  } finally {
    await opened.close();
  }
}
