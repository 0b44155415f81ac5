// Reports to onboarding the partners who have spent more today than the threshold of their alert.
import Big from 'big.js';
import { REPORT_EVERY_MS, reportAlerts, type ReportDependencies } from '@bmg/common/alerts';
import { createPoller, type Poller } from '@bmg/common/lifecycle';
import type { Logger } from '@bmg/common/telemetry';
import { dayStart } from '@bmg/common/time';
import type { RateCards } from '../rates';
import { dayEnd } from './months';
import { pricedGroups, type GroupSources } from './priced-groups';
import { totalsOf } from './totals';

export interface SpendAlertDependencies extends ReportDependencies, GroupSources {
  rateCards: Pick<RateCards, 'prices'>;
  log: Logger;
}

const ALERT = { name: 'spend alerts', cause: 'spend_per_day' };

export const createSpendAlerts = (deps: SpendAlertDependencies): Poller =>
  createPoller(ALERT.name, REPORT_EVERY_MS, () => raiseSpendAlerts(deps), deps.log);

export async function raiseSpendAlerts(deps: SpendAlertDependencies): Promise<void> {
  const { rateCards } = deps;
  // Without a rate card nothing is known to cost anything.
  if (!(await rateCards.prices())) return;
  await reportAlerts(deps, ALERT, async ({ partner_id, threshold }, day) => {
    const range = { from: dayStart(day), to: dayEnd(day) };
    const { groups } = await pricedGroups(deps, { partner_id }, range, () => rateCards.prices());
    const over = totalsOf(groups).amounts.find(({ amount }) => new Big(amount).gte(threshold));
    return over && { value: over.amount, currency: over.currency };
  });
}
