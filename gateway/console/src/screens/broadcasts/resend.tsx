// A new broadcast to the contacts that one failed to reach.
import { Text } from '@mantine/core';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { ledgerOfBroadcastQuery, readSentBy, useMay } from '../../api/queries';
import type { BroadcastDetail } from '../../api/types';
import { meanCostOf } from '../../money';
import { Confirm, Opens, type Closing } from '../../parts/dialogs';
import { Facts } from '../../parts/layout';
import { countOf, nounOf } from '../../period';
import { isOver } from './state-of';

/** The numbers of the failed contacts, each once. */
export const failedOfQuery = (broadcast_id: number) =>
  queryOptions({
    queryKey: ['failed-of', broadcast_id],
    queryFn: async (): Promise<string[]> => {
      const failed = await readSentBy(broadcast_id, 'failed');
      return [...new Set(failed.flatMap(({ contact }) => contact ?? []))];
    },
  });

export function ResendToFailed({ broadcast }: { broadcast: BroadcastDetail }) {
  if (broadcast.failed === 0 || !isOver(broadcast)) return null;
  return (
    <Opens label="Resend to failed …">
      {(close) => <ConfirmResend broadcast={broadcast} onClose={close} />}
    </Opens>
  );
}

function ConfirmResend({ broadcast, onClose }: Closing<{ broadcast: BroadcastDetail }>) {
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
      work={{
        isPending: contacts === undefined && error === null,
        error,
        mutate: () =>
          void navigate({
            to: '/broadcasts/new',
            search: { copy: id, number: phone_number_id, status: 'failed' },
          }),
      }}
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
