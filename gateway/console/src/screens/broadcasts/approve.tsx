// A broadcast that waits for approval: what it waits for, and the approval by another person.
import { Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { call } from '../../api/client';
import {
  broadcastQuery,
  broadcastsQuery,
  forecastQuery,
  peopleQuery,
  sessionQuery,
  useChange,
  useMay,
} from '../../api/queries';
import type { BroadcastDetail } from '../../api/types';
import { Confirm, Opens, type Closing } from '../../parts/dialogs';
import { Facts } from '../../parts/layout';
import { Time } from '../../parts/values';
import { Forecast, STOPPING } from './preflight';
import { waitsForApproval } from './state-of';

/** The scope of the roles that may approve. */
const APPROVING_SCOPE = 'manage';

export function Approve({ broadcast }: { broadcast: BroadcastDetail }) {
  const person = useQuery(sessionQuery).data?.person ?? null;
  const { approval } = broadcast;
  if (!approval || !waitsForApproval(broadcast)) return null;
  const may = person?.scopes.includes(APPROVING_SCOPE) ?? false;
  const is_own = person !== null && approval.created_by === person.person_id;
  return (
    <Stack gap="xs">
      <Text size="sm" role="status">
        Waits for approval: nothing is sent before{' '}
        {is_own
          ? 'another person approves it, because you created it'
          : 'an owner or a developer approves it'}
        . It is cancelled on <Time value={approval.ends_at} /> unless it is approved.
      </Text>
      {may && !is_own && (
        <Opens label="Approve …" variant="filled" w="fit-content">
          {(close) => <ConfirmApproval broadcast={broadcast} onClose={close} />}
        </Opens>
      )}
    </Stack>
  );
}

/**
 * Shows recipients, cost and time, like the confirmation of a new broadcast. Prices may have
 * changed since.
 */
function ConfirmApproval({ broadcast, onClose }: Closing<{ broadcast: BroadcastDetail }>) {
  const { id, name, total, scheduled_at } = broadcast;
  const forecast = useQuery(forecastQuery(id));
  const approve = useChange(
    [broadcastQuery(id), broadcastsQuery],
    () => call('POST', `/v1/broadcasts/${id}/approve`),
    onClose,
  );
  const is_later = scheduled_at !== null && Date.parse(scheduled_at) > Date.now();
  return (
    <Confirm
      title={`Approve ${name}?`}
      action={is_later ? 'Approve' : 'Approve and send now'}
      severe={false}
      work={approve}
      onClose={onClose}
    >
      <Facts
        of={[
          ['Template', `${broadcast.template_name} (${broadcast.template_language})`],
          ['Created by', <PersonName id={broadcast.approval?.created_by ?? null} />],
        ]}
      />
      <Forecast figures={forecast.data} contacts={total} />
      <Text size="sm" mt="sm">
        {STOPPING[is_later ? 'later' : 'now']}
      </Text>
    </Confirm>
  );
}

/** The address, for those who may read the people. */
export function PersonName({ id }: { id: string | null }) {
  const may = useMay();
  const { data = [] } = useQuery({ ...peopleQuery, enabled: id !== null && may('manage') });
  if (id === null) return <>a key</>;
  return <>{data.find(({ person_id }) => person_id === id)?.email ?? id}</>;
}
