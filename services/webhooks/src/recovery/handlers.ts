// The Webhooks RPCs: partners list the deliveries that their receiver did not take and retry them
// by hand, and the operator reads the backlog.
import { ApiError, invalidField } from '@bmg/common/errors';
import { implementPart, type Call } from '@bmg/common/rpc';
import {
  WebhooksDefinition,
  type FailedEvent,
  type ListFailedEventsRequest,
  type ListFailedEventsResponse,
  type RetryEventRequest,
  type RetryEventResponse,
} from '@bmg/proto/webhooks';
import {
  attemptFromRow,
  attemptNow,
  type AttemptNowDependencies,
  type Cursor,
  deliveryKey,
  deliveryMachine,
  type DeliveryStatus,
  eventOfKey,
  nextDelayMs,
  type OldestDelivery,
  type Receivers,
  type StoredDelivery,
} from '../delivery';
import type { ReadBudget, Room } from '../event-log';
import type { RequeueRuns } from './requeue-runs';

export interface RecoveryDependencies extends AttemptNowDependencies {
  receivers: Receivers;
  requeueRuns: RequeueRuns;
  reads: ReadBudget;
}

const PAGE_MAX = 100;
const PAGE_DEFAULT = 20;
/** Keeps a page within the largest gRPC message. */
const PAGE_BYTES_MAX = 2 * 1024 * 1024;

export const createRecoveryHandlers = (deps: RecoveryDependencies) =>
  implementPart(WebhooksDefinition, {
    listFailedEvents: (request, call) =>
      deps.reads.hold(request.partner_id, call, (room) => listFailedEvents(deps, request, room)),
    retryEvent: (request, call) => retryEvent(deps, request, call),
    retryAllEvents: ({ partner_id }) => deps.requeueRuns.run(partner_id),
    async getBacklog() {
      const [counts, oldest] = await Promise.all([
        deps.deliveries.counts(),
        deps.deliveries.oldest(),
      ]);
      return { ...counts, oldest: oldest && oldestEvent(oldest) };
    },
  });

async function listFailedEvents(
  { deliveries }: RecoveryDependencies,
  { partner_id, limit, cursor, status, max_bytes = PAGE_BYTES_MAX }: ListFailedEventsRequest,
  room: Room,
): Promise<ListFailedEventsResponse> {
  const page_size = Math.min(limit || PAGE_DEFAULT, PAGE_MAX);
  const statuses = statusesOf(status);
  const after = cursor === undefined ? undefined : readCursor(cursor);
  const bytes = Math.min(max_bytes, PAGE_BYTES_MAX);
  await room.reserve(bytes);
  const [{ rows, has_more }, total] = await Promise.all([
    deliveries.listOf(partner_id, statuses, { limit: page_size, bytes, after }),
    deliveries.countOf(partner_id, statuses),
  ]);
  room.took(rows.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0));
  const last = rows.at(-1);
  return {
    events: rows.map(failedEvent),
    after: has_more && last ? writeCursor(last) : undefined,
    total,
  };
}

/** One attempt now. It counts in `attempts`, but does not use up the schedule. */
async function retryEvent(
  deps: RecoveryDependencies,
  { partner_id, event_id, endpoint_id }: RetryEventRequest,
  call: Call,
): Promise<RetryEventResponse> {
  const { deliveries, receivers, untrack } = deps;
  const key = deliveryKey(event_id, endpoint_id);
  const row = await deliveries.findOf(partner_id, key);
  if (!row) throw new ApiError('NOT_FOUND', 'no failed or retrying event has this event_id');
  const receiver = await receivers.of(partner_id, call.span, call.signal);
  const attempts = row.attempts + 1;
  const attempt = { ...attemptFromRow(row, attempts), span: call.span };
  const outcome = await attemptNow(deps, attempt, receiver);
  const { http_status } = outcome;
  if (outcome.result === 'delivered') return { event_id, status: 'delivered', http_status };
  // Status and next attempt stay, unless the receiver returns 410: it never wants this event.
  const is_gone = nextDelayMs(1, outcome) === undefined;
  const status = is_gone ? deliveryMachine.to('giveUp') : row.status;
  await deliveries.update(key, {
    status,
    attempts,
    last_attempt_at: new Date(),
    next_attempt_at: is_gone ? null : row.next_attempt_at,
    last_http_status: http_status ?? null,
    last_error: outcome.error,
  });
  if (is_gone) untrack(key);
  return { event_id, status, http_status };
}

const oldestEvent = ({ _id, partner_id, created_at }: OldestDelivery) => ({
  event_id: eventOfKey(_id),
  partner_id,
  created_at,
});

const failedEvent = (row: StoredDelivery): FailedEvent => ({
  event_id: eventOfKey(row._id),
  endpoint_id: row.endpoint_id ?? undefined,
  event: row.event,
  waba_id: row.waba_id,
  phone_number_id: row.phone_number_id ?? undefined,
  status: row.status,
  attempts: row.attempts,
  created_at: row.created_at,
  last_attempt_at: row.last_attempt_at ?? undefined,
  next_attempt_at: row.next_attempt_at ?? undefined,
  last_http_status: row.last_http_status ?? undefined,
  last_error: row.last_error ?? undefined,
  payload: row.body,
});

function statusesOf(status: string | undefined): DeliveryStatus[] {
  if (status === undefined) return ['failed', 'retrying'];
  if (status === 'failed' || status === 'retrying') return [status];
  throw invalidField('status', 'must be failed or retrying');
}

const writeCursor = ({ created_at, _id }: StoredDelivery): string =>
  Buffer.from(`${created_at.getTime()}:${_id}`).toString('base64url');

function readCursor(cursor: string): Cursor {
  const [at, event_id] = Buffer.from(cursor, 'base64url').toString('utf8').split(':');
  const created_at = new Date(Number(at));
  if (!event_id || Number.isNaN(created_at.getTime())) {
    throw invalidField('cursor', 'must be a cursor from paging.cursors.after of this endpoint');
  }
  return { created_at, event_id };
}
