// Recovery: what the partner's receiver did not take, looked at and tried again by hand.
import { ApiError, invalidField } from '@bmg/common/errors';
import type { GuardedAgent } from '@bmg/common/outbound';
import { implement } from '@bmg/common/rpc';
import type { Logger } from '@bmg/common/telemetry';
import { WebhooksDefinition, type FailedEvent } from '@bmg/proto/webhooks';
import { attempt } from '../delivery/attempt';
import type { Receivers } from '../delivery/receivers';
import { nextDelayMs, type DeliveryStatus } from '../delivery/retry-schedule';
import type { Seen } from '../delivery/seen';
import type { Cursor, Deliveries, StoredDelivery } from '../store/deliveries';
import { sendTestEvent } from './test-event';

export interface RecoveryDependencies {
  deliveries: Deliveries;
  receivers: Receivers;
  seen: Seen;
  agent: GuardedAgent;
  log: Logger;
  /** Tells whoever schedules these events, in this process or another, to look again. */
  announce(partner_id: string): Promise<void>;
  settled(event_id: string): void;
}

const PAGE_MAX = 100;
const PAGE_DEFAULT = 20;
const PAGE_BYTES_MAX = 2 * 1024 * 1024;

export const recovery = (deps: RecoveryDependencies) => {
  const { deliveries, receivers, seen, agent, log } = deps;
  return implement(WebhooksDefinition, {
    async listFailedEvents({ partner_id, limit, cursor, status }) {
      const wanted = Math.min(limit || PAGE_DEFAULT, PAGE_MAX);
      const rows = await deliveries.listOf(partner_id, statuses(status), {
        limit: wanted + 1,
        after: cursor === undefined ? undefined : readCursor(cursor),
      });
      const page = withinBytes(rows.slice(0, wanted));
      const last = page.at(-1);
      return {
        events: page.map(failedEvent),
        after: rows.length > page.length && last ? writeCursor(last) : undefined,
      };
    },
    async retryEvent({ partner_id, event_id }, call) {
      const row = await deliveries.findOf(partner_id, event_id);
      if (!row) throw new ApiError('NOT_FOUND', 'there is no such event waiting to be delivered');
      const receiver = await receivers.of(partner_id, call.span, call.signal ?? NEVER);
      const attempts = row.attempts + 1;
      const outcome = await attempt(
        {
          event_id,
          partner_id,
          event: row.event,
          body: Buffer.from(row.body, 'utf8'),
          received_at_ms: row.received_at.getTime(),
          // By hand, so never the first: without a webhook URL the event stays in the list.
          attempt: Math.max(2, attempts),
          span: call.span,
        },
        receiver,
        agent,
        log,
      );
      const http_status = outcome.http_status;
      if (outcome.result === 'delivered') {
        seen.remember(event_id);
        await deliveries.remove(event_id);
        deps.settled(event_id);
        return { event_id, status: 'delivered', http_status };
      }
      // A try by hand does not use up the schedule: the event keeps its state and its next time, unless the
      // receiver wants it no more.
      const gone = nextDelayMs(1, outcome) === undefined;
      const status = gone ? 'failed' : row.status;
      await deliveries.update(event_id, {
        status,
        attempts,
        last_attempt_at: new Date(),
        next_attempt_at: gone ? null : row.next_attempt_at,
        last_http_status: http_status ?? null,
        last_error: outcome.error,
      });
      if (gone) deps.settled(event_id);
      return { event_id, status, http_status };
    },
    async retryAllEvents({ partner_id }) {
      const queued = await deliveries.requeueAll(partner_id, new Date());
      if (queued > 0) await deps.announce(partner_id);
      return { queued };
    },
    sendTestEvent: sendTestEvent(deps),
  });
};

/** At least one, and no more than fit into an answer between services. */
function withinBytes(rows: StoredDelivery[]): StoredDelivery[] {
  let bytes = 0;
  const fitting = rows.findIndex((row, index) => {
    bytes += Buffer.byteLength(row.body);
    return index > 0 && bytes > PAGE_BYTES_MAX;
  });
  return fitting === -1 ? rows : rows.slice(0, fitting);
}

const NEVER = new AbortController().signal;

const failedEvent = (row: StoredDelivery): FailedEvent => ({
  event_id: row._id,
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

function statuses(status: string | undefined): DeliveryStatus[] {
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
    throw invalidField('cursor', 'is not one that was given out');
  }
  return { created_at, event_id };
}
