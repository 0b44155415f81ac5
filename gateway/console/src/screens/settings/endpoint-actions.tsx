// What can be done with a webhook endpoint beside its settings.
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { call } from '../../api/client';
import { endpointsQuery, knownEventsQuery, useChange } from '../../api/queries';
import type { EndpointSecret, WebhookEndpoint } from '../../api/types';
import { takes } from '../../event-filter';
import { Confirm, Opens, type Closing } from '../../parts/dialogs';
import { WorkButton } from '../../parts/layout';
import { ReplayEvents } from '../events/replay';
import { SendTestButton, type SendTestWork } from '../events/send-test';
import { nameOf } from './receiver-rows';
import { RotateSecret } from './secret';

const CHANGED = [endpointsQuery];

/** Its address in the API. */
export const pathOf = ({ endpoint_id }: WebhookEndpoint): string =>
  `/v1/webhook-endpoints/${endpoint_id}`;

const rotateOf = (endpoint: WebhookEndpoint) => async (overlap_hours: number) => {
  const path = `${pathOf(endpoint)}/rotate-secret`;
  return (await call<EndpointSecret>('POST', path, { body: { overlap_hours } })).secret;
};

/** The gateway tests a disabled or untested one before it enables it. */
export const usePause = (endpoint: WebhookEndpoint) =>
  useChange(CHANGED, () =>
    call('PATCH', pathOf(endpoint), {
      body: { status: endpoint.status === 'active' ? 'paused' : 'active' },
    }),
  );

const PAUSES: Readonly<Record<string, string>> = { active: 'Pause', paused: 'Resume' };

interface ActionsProps {
  endpoint: WebhookEndpoint;
  test: SendTestWork;
  pause: ReturnType<typeof usePause>;
}

export function EndpointActions({ endpoint, test, pause }: ActionsProps) {
  const { data: known = [] } = useQuery(knownEventsQuery);
  const names = known.filter((one) => takes(endpoint.events, one)).map(({ event }) => event);
  return (
    <>
      <SendTestButton test={test} />
      <WorkButton variant="default" work={pause}>
        {PAUSES[endpoint.status] ?? 'Enable'}
      </WorkButton>
      <ReplayEvents names={names} endpoint_id={endpoint.endpoint_id} />
      {endpoint.url !== null && (
        <Opens label="Rotate the secret …">
          {(close) => (
            <RotateSecret
              title={`Rotate the secret of ${nameOf(endpoint)}`}
              rotate={rotateOf(endpoint)}
              changed={endpointsQuery}
              onClose={close}
            />
          )}
        </Opens>
      )}
      <Opens label="Delete …">{(close) => <Delete endpoint={endpoint} onClose={close} />}</Opens>
    </>
  );
}

function Delete({ endpoint, onClose }: Closing<{ endpoint: WebhookEndpoint }>) {
  const navigate = useNavigate();
  const remove = useChange(
    CHANGED,
    () => call('DELETE', pathOf(endpoint)),
    () => void navigate({ to: '/settings/receivers' }),
  );
  return (
    <Confirm title={`Delete ${nameOf(endpoint)}?`} action="Delete" work={remove} onClose={onClose}>
      It gets no further event, and the deliveries that wait for it are dropped. This cannot be
      undone.
    </Confirm>
  );
}
