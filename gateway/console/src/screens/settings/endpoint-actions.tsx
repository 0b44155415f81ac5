// What can be done with a webhook endpoint beside its settings.
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useChange } from '../../api/change';
import { call } from '../../api/client';
import { endpointsQuery, knownEventsQuery } from '../../api/queries';
import type { EndpointSecret, WebhookEndpoint } from '../../api/types';
import { takes } from '../../event-filter';
import { Confirm } from '../../parts/confirm';
import { ReplayEvents } from '../events/replay';
import { SendTestButton, type SendTestWork } from '../events/send-test';
import { nameOf } from './receiver-rows';
import { RotateSecret } from './secret';

interface EndpointProps {
  endpoint: WebhookEndpoint;
}

const CHANGED = [endpointsQuery];

const pathOf = ({ endpoint_id }: WebhookEndpoint): string => `/v1/webhook-endpoints/${endpoint_id}`;

const rotateOf = (endpoint: WebhookEndpoint) => async (overlap_hours: number) =>
  (
    await call<EndpointSecret>('POST', `${pathOf(endpoint)}/rotate-secret`, {
      body: { overlap_hours },
    })
  ).secret;

/** The gateway tests a disabled or untested one before it enables it. */
export const usePause = (endpoint: WebhookEndpoint) =>
  useChange(CHANGED, () =>
    call('PATCH', pathOf(endpoint), {
      body: { status: endpoint.status === 'active' ? 'paused' : 'active' },
    }),
  );

const PAUSES: Readonly<Record<string, string>> = { active: 'Pause', paused: 'Resume' };

interface ActionsProps extends EndpointProps {
  test: SendTestWork;
  pause: ReturnType<typeof usePause>;
}

export function EndpointActions({ endpoint, test, pause }: ActionsProps) {
  const [opened, setOpened] = useState<'rotate' | 'delete'>();
  const { data: known = [] } = useQuery(knownEventsQuery);
  const close = () => setOpened(undefined);
  const names = known.filter((one) => takes(endpoint.events, one)).map(({ event }) => event);
  return (
    <>
      <SendTestButton test={test} />
      <Button variant="default" loading={pause.isPending} onClick={() => pause.mutate()}>
        {PAUSES[endpoint.status] ?? 'Enable'}
      </Button>
      <ReplayEvents names={names} endpoint_id={endpoint.endpoint_id} />
      {endpoint.url !== null && (
        <Button variant="default" onClick={() => setOpened('rotate')}>
          Rotate the secret …
        </Button>
      )}
      <Button variant="default" onClick={() => setOpened('delete')}>
        Delete …
      </Button>
      {opened === 'rotate' && (
        <RotateSecret
          title={`Rotate the secret of ${nameOf(endpoint)}`}
          rotate={rotateOf(endpoint)}
          changed={endpointsQuery}
          onClose={close}
        />
      )}
      {opened === 'delete' && <Delete endpoint={endpoint} onClose={close} />}
    </>
  );
}

function Delete({ endpoint, onClose }: EndpointProps & { onClose: () => void }) {
  const navigate = useNavigate();
  const remove = useChange(
    CHANGED,
    () => call('DELETE', pathOf(endpoint)),
    () => void navigate({ to: '/settings/receivers' }),
  );
  return (
    <Confirm
      title={`Delete ${nameOf(endpoint)}?`}
      action="Delete"
      pending={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    >
      It gets no further event, and the deliveries that wait for it are dropped. This cannot be
      undone.
    </Confirm>
  );
}
