// The entries of a period in groups, with their prices.
import { dayStart } from '@bmg/common/time';
import type { PriceFinder } from '../pricing';
import type { LedgerEntries, LedgerScope, Range } from './store/entries';
import type { LateEntries } from './store/late';
import { groupOfLate, priceGroup, type TotalledGroup } from './totals';

export interface GroupSources {
  ledgerEntries: Pick<LedgerEntries, 'groups'>;
  lateEntries: Pick<LateEntries, 'stream'>;
}

/** `accounts`: those that the messages were sent from. */
export async function pricedGroups(
  { ledgerEntries, lateEntries }: GroupSources,
  scope: LedgerScope,
  range: Range,
  pricesAt: (at: Date) => Promise<PriceFinder | undefined>,
): Promise<{ groups: TotalledGroup[]; accounts: string[] }> {
  const found = await ledgerEntries.groups(scope, range);
  const groups = await Promise.all(
    found.map(async (group) => priceGroup(group, await pricesAt(dayStart(group.day)))),
  );
  for await (const late of lateEntries.stream(scope, range)) groups.push(groupOfLate(late));
  return { groups, accounts: found.map(({ waba_id }) => waba_id) };
}
