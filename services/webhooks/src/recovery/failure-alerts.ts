// Tells onboarding which partners' receivers have not accepted more of today's events than the
// threshold of their alert.
import { createPoller, type Poller } from '@bmg/common/lifecycle';
import { ownCall, type Call, type Client } from '@bmg/common/rpc';
import { endSpan, startSpan, type Logger } from '@bmg/common/telemetry';
import type { AlertsDefinition } from '@bmg/proto/alerts';
import type { Deliveries } from '../store/deliveries';

export interface FailureAlertDependencies {
  alerts: Client<AlertsDefinition>;
  deliveries: Pick<Deliveries, 'countRefused'>;
  now: () => Date;
  log: Logger;
}

const CAUSE = 'webhook_failures';
const ROUND_EVERY_MS = 60_000;
/** Of each call: a stop waits for the one in flight. */
const CALL_LIMIT_MS = 10_000;

export const createFailureAlerts = (deps: FailureAlertDependencies): Poller =>
  createPoller('failure alerts', ROUND_EVERY_MS, () => raiseFailureAlerts(deps), deps.log);

export async function raiseFailureAlerts(deps: FailureAlertDependencies): Promise<void> {
  const { alerts, deliveries, now } = deps;
  const span = startSpan('failure alerts');
  try {
    const call = (): Call => ownCall(span.spanContext(), CALL_LIMIT_MS);
    const { watchers } = await alerts.listWatchers({ cause: CAUSE }, call());
    const day = now().toISOString().slice(0, 10);
    const since = new Date(`${day}T00:00:00Z`);
    for (const { partner_id, threshold } of watchers) {
      const refused = await deliveries.countRefused(partner_id, since);
      if (refused < Number(threshold)) continue;
      await alerts.raiseAlert({ partner_id, cause: CAUSE, day, value: String(refused) }, call());
    }
    endSpan(span);
  } catch (error) {
    endSpan(span, { code: 'INTERNAL_ERROR' });
    throw error;
  }
}
