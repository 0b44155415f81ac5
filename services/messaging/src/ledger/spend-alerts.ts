// Reports to onboarding the partners who have spent more today than the threshold of their alert.
import Big from 'big.js';
import { REPORT_EVERY_MS, reportAlerts, type ReportDependencies } from '@bmg/common/alerts';
import { createPoller, type Poller } from '@bmg/common/lifecycle';
import { dayStart } from '@bmg/common/time';
import { dayEnd } from './months';
import { pricedGroups, type GroupSources } from './costs';
import { totalsOf } from './totals';
import type { Needs, Dependencies } from '../dependencies';

type SpendAlertDependencies = ReportDependencies &
  GroupSources &
  Needs<{ rateCards: 'prices' }> &
  Pick<Dependencies, 'log'>;

const ALERT = { name: 'spend alerts', cause: 'spend_per_day' };

export const createSpendAlerts = (deps: SpendAlertDependencies): Poller =>
  createPoller(ALERT.name, REPORT_EVERY_MS, () => raiseSpendAlerts(deps), deps.log);

export async function raiseSpendAlerts(deps: SpendAlertDependencies): Promise<void> {
  const { rateCards } = deps;
  // Nothing is known to cost anything before a rate card is loaded.
  if (!(await rateCards.prices())) return;
  await reportAlerts(deps, ALERT, async ({ partner_id, threshold }, day) => {
    const range = { from: dayStart(day), to: dayEnd(day) };
    const { groups } = await pricedGroups(deps, { partner_id }, range, () => rateCards.prices());
    const over = totalsOf(groups).amounts.find(({ amount }) => new Big(amount).gte(threshold));
    return over && { value: over.amount, currency: over.currency };
  });
}
