// Tells onboarding which partners have spent more today than the threshold of their alert.
import Big from 'big.js';
import { createPoller, type Poller } from '@bmg/common/lifecycle';
import { ownCall, type Call, type Client } from '@bmg/common/rpc';
import { endSpan, startSpan, type Logger } from '@bmg/common/telemetry';
import type { AlertsDefinition } from '@bmg/proto/alerts';
import type { LedgerEntries } from '../store/ledger-entries';
import type { LateEntries } from '../store/ledger-late';
import type { RateCards } from '../store/rate-cards';
import { dayOf, endOf, startOf } from './months';
import { groupOfLate, priceGroup, totalsOf, type TotalledGroup } from './totals';

export interface SpendAlertDependencies {
  alerts: Client<AlertsDefinition>;
  ledgerEntries: Pick<LedgerEntries, 'groups'>;
  lateEntries: Pick<LateEntries, 'stream'>;
  rateCards: Pick<RateCards, 'prices'>;
  now: () => Date;
  log: Logger;
}

const CAUSE = 'spend_per_day';
const ROUND_EVERY_MS = 60_000;
/** Of each call: a stop waits for the one in flight. */
const CALL_LIMIT_MS = 10_000;

export const createSpendAlerts = (deps: SpendAlertDependencies): Poller =>
  createPoller('spend alerts', ROUND_EVERY_MS, () => raiseSpendAlerts(deps), deps.log);

export async function raiseSpendAlerts(deps: SpendAlertDependencies): Promise<void> {
  const { alerts, rateCards, now } = deps;
  // Without a rate card nothing is known to cost anything.
  if (!(await rateCards.prices())) return;
  const span = startSpan('spend alerts');
  try {
    const call = (): Call => ownCall(span.spanContext(), CALL_LIMIT_MS);
    const { watchers } = await alerts.listWatchers({ cause: CAUSE }, call());
    const day = dayOf(now());
    for (const { partner_id, threshold } of watchers) {
      const { amounts } = await spentOn(deps, partner_id, day);
      const over = amounts.find(({ amount }) => new Big(amount).gte(threshold));
      if (!over) continue;
      const { amount: value, currency } = over;
      await alerts.raiseAlert({ partner_id, cause: CAUSE, day, value, currency }, call());
    }
    endSpan(span);
  } catch (error) {
    endSpan(span, { code: 'INTERNAL_ERROR' });
    throw error;
  }
}

async function spentOn(
  { ledgerEntries, lateEntries, rateCards }: SpendAlertDependencies,
  partner_id: string,
  day: string,
) {
  const range = { from: startOf(day), to: endOf(day) };
  const prices = await rateCards.prices();
  const groups: TotalledGroup[] = (await ledgerEntries.groups({ partner_id }, range)).map((group) =>
    priceGroup(group, prices),
  );
  for await (const late of lateEntries.stream({ partner_id }, range))
    groups.push(groupOfLate(late));
  return totalsOf(groups);
}
