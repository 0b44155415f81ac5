// Records how attempts at endpoints end, in batches and in the background, and disables endpoints
// that have failed for days.
import { createPoller, type Poller } from '@bmg/common/lifecycle';
import { ownCall, type Client } from '@bmg/common/rpc';
import { endSpan, startSpan, type Logger } from '@bmg/common/telemetry';
import type { EndpointRegistryDefinition } from '@bmg/proto/endpoints';
import type { Attempt, Outcome } from '../delivery';
import { createRecorder } from '../ground/additions';
import type { ReceiverHealth, RecentAttempt } from './store';

interface Recorded extends RecentAttempt {
  partner_id: string;
}

export type HealthRecorder = ReturnType<typeof createHealthRecorder>;

export function createHealthRecorder(store: ReceiverHealth, log: Logger) {
  const recorder = createRecorder<Recorded>(
    (endpoint_id, id, records) =>
      store.add({
        id,
        endpoint_id,
        partner_id: (records[0] as Recorded).partner_id,
        attempts: records.map(({ partner_id: _, ...attempt }) => attempt),
      }),
    (err, endpoint_id) =>
      log.warn({ err, endpoint_id }, 'failed to record the health of an endpoint'),
  );
  return {
    name: 'endpoint-health',
    start: async (): Promise<void> => {},
    stop: recorder.drain,
    /** Does not wait for the store: losing a record costs a figure, never a delivery. */
    record(
      { partner_id, endpoint_id, event_id, event, number }: Attempt,
      { trace, result, http_status, error }: Outcome,
    ): void {
      if (endpoint_id === undefined || !trace) return;
      recorder.record(endpoint_id, {
        partner_id,
        event_id,
        event,
        number,
        at: new Date(trace.at),
        duration_ms: trace.duration_ms,
        delivered: result === 'delivered',
        http_status: http_status ?? null,
        error,
      });
    },
  };
}

const ROUND_EVERY_MS = 60_000;
/** An endpoint that has not taken one delivery for this long is disabled. */
export const FAILING_MAX_MS = 5 * 86_400_000;
/** It must have failed within this time: one without deliveries is unchanged. */
const FAILED_WITHIN_MS = 86_400_000;
const DISABLED_AT_ONCE = 100;
const CALL_LIMIT_MS = 10_000;

export interface DisablingDependencies {
  health: Pick<ReceiverHealth, 'failing' | 'forgive'>;
  registry: Client<EndpointRegistryDefinition>;
  log: Logger;
  now: () => Date;
}

export const createDisabling = (deps: DisablingDependencies): Poller =>
  createPoller('failing endpoints', ROUND_EVERY_MS, () => disableFailing(deps), deps.log);

/** One round. True if there may be more. Safe to repeat and to run on several replicas. */
export async function disableFailing({
  health,
  registry,
  now,
}: Omit<DisablingDependencies, 'log'>): Promise<boolean> {
  const at = now().getTime();
  const failing = await health.failing(
    new Date(at - FAILING_MAX_MS),
    new Date(at - FAILED_WITHIN_MS),
    DISABLED_AT_ONCE,
  );
  if (failing.length === 0) return false;
  const span = startSpan('disable failing endpoints');
  for (const { _id: endpoint_id, partner_id, failing_since } of failing) {
    try {
      await registry.disableEndpoint(
        { partner_id, endpoint_id, unless_changed_since: failing_since },
        ownCall(span.spanContext(), CALL_LIMIT_MS),
      );
    } catch (error) {
      // Deleted meanwhile: only its health is left.
      if ((error as { code?: string }).code !== 'NOT_FOUND') {
        endSpan(span, { code: 'INTERNAL_ERROR' });
        throw error;
      }
    }
    await health.forgive(endpoint_id);
  }
  endSpan(span);
  return failing.length === DISABLED_AT_ONCE;
}
