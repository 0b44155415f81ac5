// The receiver of a delivery, with a link to its page.
import { Anchor } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { endpointsQuery } from '../../api/queries';
import { nameOf, WEBHOOK } from '../settings/receiver-rows';

export function ReceiverName({ endpoint_id }: { endpoint_id: string | null }) {
  const { data } = useQuery({ ...endpointsQuery, enabled: endpoint_id !== null });
  const endpoint = data?.endpoints.find((one) => one.endpoint_id === endpoint_id);
  return (
    <Anchor
      component={Link}
      to="/settings/receivers/$endpoint_id"
      params={{ endpoint_id: endpoint_id ?? WEBHOOK } as never}
      size="sm"
    >
      {endpoint_id === null ? 'Webhook address' : endpoint ? nameOf(endpoint) : endpoint_id}
    </Anchor>
  );
}
