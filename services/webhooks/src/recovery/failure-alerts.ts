// Reports to onboarding the partners whose receivers have refused more of today's events than the
// threshold of their alert.
import { REPORT_EVERY_MS, reportAlerts, type ReportDependencies } from '@bmg/common/alerts';
import { createPoller, type Poller } from '@bmg/common/lifecycle';
import type { Logger } from '@bmg/common/telemetry';
import { dayStart } from '@bmg/common/time';
import type { Deliveries } from '../delivery';

export interface FailureAlertDependencies extends ReportDependencies {
  deliveries: Pick<Deliveries, 'countRefused'>;
  log: Logger;
}

const ALERT = { name: 'failure alerts', cause: 'webhook_failures' };

export const createFailureAlerts = (deps: FailureAlertDependencies): Poller =>
  createPoller(ALERT.name, REPORT_EVERY_MS, () => raiseFailureAlerts(deps), deps.log);

export const raiseFailureAlerts = (deps: FailureAlertDependencies): Promise<void> =>
  reportAlerts(deps, ALERT, async ({ partner_id, threshold }, day) => {
    const refused = await deps.deliveries.countRefused(partner_id, dayStart(day));
    return refused < Number(threshold) ? undefined : { value: String(refused) };
  });
