// A new broadcast to the contacts that one failed to reach.
import { Button, Text } from '@mantine/core';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { ledgerOfBroadcastQuery, useMay } from '../../api/queries';
import type { BroadcastDetail } from '../../api/types';
import { Confirm } from '../../parts/confirm';
import { Facts } from '../../parts/facts';
import { meanCostOf } from '../../money';
import { countOf, nounOf } from '../../period';
import { readAll } from './read-all';
import { isOver } from './state-of';

/** The numbers of the failed contacts, each once. */
export const failedOfQuery = (broadcast_id: number) =>
  queryOptions({
    queryKey: ['failed-of', broadcast_id],
    queryFn: async (): Promise<string[]> => {
      const failed = await readAll(broadcast_id, 'failed');
      return [...new Set(failed.flatMap(({ contact }) => contact ?? []))];
    },
  });

export function ResendToFailed({ broadcast }: { broadcast: BroadcastDetail }) {
  const [asking, setAsking] = useState(false);
  if (broadcast.failed === 0 || !isOver(broadcast)) return null;
  return (
    <>
      <Button variant="default" onClick={() => setAsking(true)}>
        Resend to failed …
      </Button>
      {asking && <ConfirmResend broadcast={broadcast} onClose={() => setAsking(false)} />}
    </>
  );
}

interface ConfirmResendProps {
  broadcast: BroadcastDetail;
  onClose: () => void;
}

function ConfirmResend({ broadcast, onClose }: ConfirmResendProps) {
  const { id, phone_number_id, template_name, template_language } = broadcast;
  const navigate = useNavigate();
  const { data: contacts, error } = useQuery(failedOfQuery(id));
  const may_see_costs = useMay()('billing');
  const totals = useQuery({ ...ledgerOfBroadcastQuery(id), enabled: may_see_costs }).data;
  const count = contacts?.length ?? broadcast.failed;
  const cost = totals && meanCostOf(totals, count);
  return (
    <Confirm
      title={`Resend to ${nounOf(count, 'failed contact')}?`}
      action="Prepare the new broadcast"
      severe={false}
      pending={contacts === undefined && error === null}
      error={error}
      onConfirm={() =>
        void navigate({
          to: '/broadcasts/new',
          search: { copy: id, number: phone_number_id, status: 'failed' } as never,
        })
      }
      onClose={onClose}
    >
      <Facts
        of={[
          ['Contacts', `${countOf(count)} of ${countOf(broadcast.total)}: only the failed ones`],
          ['Template', `${template_name} (${template_language})`],
          ['Cost', may_see_costs ? (cost ?? 'not known') : null],
        ]}
      />
      <Text size="sm" mt="sm">
        It is a new broadcast with the failed contacts filled in. You see and may change them, and
        nothing is sent before you confirm. This broadcast and its counters stay as they are.
      </Text>
    </Confirm>
  );
}
