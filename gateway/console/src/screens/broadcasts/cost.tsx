// What a broadcast costs: its totals in the ledger, by category and by country.
import { Text } from '@mantine/core';
import { useDidUpdate, useThrottledValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { ledgerOfBroadcastQuery, useMay } from '../../api/queries';
import type { BroadcastDetail } from '../../api/types';
import { spentOf } from '../../money';
import { Hint, Section } from '../../parts/layout';
import { Failure } from '../../parts/loaded';
import { Amounts } from '../../parts/tables';
import { isMoving } from './state-of';

const REFRESH_MS = 10_000;
/** The cost follows the counters of the broadcast, at most this often. */
const FOLLOW_MS = 2_000;

export function BroadcastCost({ broadcast }: { broadcast: BroadcastDetail }) {
  // The ledger needs the scope: a developer and support see no costs.
  const is_shown = useMay()('billing') && broadcast.started_at !== null;
  const moves = isMoving(broadcast);
  const query = useQuery({
    ...ledgerOfBroadcastQuery(broadcast.id),
    enabled: is_shown,
    refetchInterval: moves ? REFRESH_MS : false,
  });
  const { total, sent, delivered, failed } = broadcast;
  const is_partial = moves && delivered + failed < total;
  const counters = useThrottledValue(`${sent}/${delivered}/${failed}`, FOLLOW_MS);
  useDidUpdate(() => {
    if (is_shown) void query.refetch();
  }, [counters]);
  if (!is_shown) return null;
  const { data: totals, error } = query;
  return (
    <Section title="Cost">
      {error && (
        <Failure error={error} title="The cost was not read" retry={() => void query.refetch()} />
      )}
      <Text size="sm" data-testid="broadcast-cost">
        {totals
          ? `${spentOf(totals)}${is_partial ? ' so far' : ''}`
          : !error && 'Reading the ledger …'}
      </Text>
      {is_partial && (
        <Hint>
          A message is charged when its delivery is reported, which may be minutes after it was
          sent.
        </Hint>
      )}
      {totals && totals.messages > 0 && (
        <>
          <Amounts
            head="Category"
            label="Cost by category"
            unknown="not known yet"
            rows={totals.by_category.map((row) => ({ ...row, name: row.category }))}
          />
          <Amounts
            head="Country"
            label="Cost by country"
            unknown="not known yet"
            rows={totals.by_market.map((row) => ({ ...row, name: row.market }))}
          />
        </>
      )}
    </Section>
  );
}
