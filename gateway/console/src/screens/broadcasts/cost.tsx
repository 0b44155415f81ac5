// What a broadcast costs: its totals in the ledger, by category and by country.
import { Stack, Text, Title } from '@mantine/core';
import { useDidUpdate, useThrottledValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import type { ComponentProps } from 'react';
import { ledgerOfBroadcastQuery, useMay } from '../../api/queries';
import type { BroadcastDetail } from '../../api/types';
import { Amounts } from '../../parts/amounts';
import { Failure } from '../../parts/failure';
import { spentOf } from '../../money';
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
    <Stack gap="xs">
      <Title order={3} size="h5">
        Cost
      </Title>
      {error && (
        <Failure error={error} title="The cost was not read" retry={() => void query.refetch()} />
      )}
      <Text size="sm" data-testid="broadcast-cost">
        {totals
          ? `${spentOf(totals)}${is_partial ? ' so far' : ''}`
          : !error && 'Reading the ledger …'}
      </Text>
      {is_partial && (
        <Text size="xs" c="dimmed">
          A message is charged when its delivery is reported, which may be minutes after it was
          sent.
        </Text>
      )}
      {totals && totals.messages > 0 && (
        <>
          <Parts
            head="Category"
            rows={totals.by_category.map((row) => ({ ...row, name: row.category }))}
          />
          <Parts
            head="Country"
            rows={totals.by_market.map((row) => ({ ...row, name: row.market }))}
          />
        </>
      )}
    </Stack>
  );
}

const Parts = ({ head, rows }: Pick<ComponentProps<typeof Amounts>, 'head' | 'rows'>) => (
  <Amounts
    head={head}
    label={`Cost by ${head.toLowerCase()}`}
    unknown="not known yet"
    rows={rows}
  />
);
