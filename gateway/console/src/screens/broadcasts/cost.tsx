// What a broadcast cost so far: the amounts of its messages, added up in the browser. The ledger has no totals
// by broadcast.
import { Button, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { BroadcastDetail } from '../../api/types';
import { Failure } from '../../parts/failure';
import { totalOf } from './total';
import { readAll } from './read-all';
import { windowOf } from './recipients-of';

/** Up to so many contacts the sum is read at once; for more, a person asks for it. */
const AT_ONCE_MAX = 1_000;
const REFRESH_MS = 10_000;

export function BroadcastCost({
  broadcast,
  running,
}: {
  broadcast: BroadcastDetail;
  running: boolean;
}) {
  const [wanted, setWanted] = useState(broadcast.total <= AT_ONCE_MAX);
  const query = useQuery({
    queryKey: ['broadcast-cost', broadcast.id],
    enabled: wanted && broadcast.started_at !== null,
    // A large broadcast is read once.
    refetchInterval: running && broadcast.total <= AT_ONCE_MAX ? REFRESH_MS : false,
    queryFn: async () => totalOf(await readAll(windowOf(broadcast))),
  });
  if (broadcast.started_at === null) return <Text size="sm">not sent yet</Text>;
  if (!wanted) {
    return (
      <Button size="compact-xs" variant="default" onClick={() => setWanted(true)}>
        Add it up
      </Button>
    );
  }
  if (query.error) {
    return (
      <Failure
        error={query.error}
        title="The cost was not read"
        retry={() => void query.refetch()}
      />
    );
  }
  return <span data-testid="broadcast-cost">{query.data ?? 'adding up the messages …'}</span>;
}
