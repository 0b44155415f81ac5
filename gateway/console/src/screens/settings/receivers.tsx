// Where events go: the webhook address, the endpoints beside it, and a receiver on trial.
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import {
  endpointsQuery,
  latestEventsQuery,
  LATEST_EVENTS,
  settingsQuery,
  waitingQuery,
} from '../../api/queries';
import type { Settings, WebhookEndpoint } from '../../api/types';
import { Changeable, IfMay } from '../../parts/allowed';
import { Opens } from '../../parts/dialogs';
import { Hint, Loaded } from '../../parts/layout';
import { agoColumn, type Column, column, countColumn, Rows } from '../../parts/rows';
import { State } from '../../parts/values';
import { countOf } from '../../period';
import { CreateEndpoint } from './create-endpoint';
import { SettingsPage } from './page';
import { endpointRow, webhookRow, type ReceiverRow } from './receiver-rows';
import { ShadowReceivers } from './shadows';

export function Screen() {
  const settings = useQuery(settingsQuery);
  const endpoints = useQuery(endpointsQuery);
  return (
    <SettingsPage
      to="/settings/receivers"
      description="Your webhook address gets every event. Endpoints beside it get what you choose for each."
      actions={
        <IfMay scope="manage">
          <Opens label="Add an endpoint …" variant="filled">
            {(close) => <CreateEndpoint onClose={close} />}
          </Opens>
        </IfMay>
      }
    >
      <Loaded query={settings} what="the settings" lines={1}>
        {(known) => (
          <Loaded query={endpoints} what="the webhook endpoints" lines={2}>
            {(listed) => <Receivers settings={known} endpoints={listed} />}
          </Loaded>
        )}
      </Loaded>
      <Changeable scope="manage">
        <ShadowReceivers />
      </Changeable>
    </SettingsPage>
  );
}

const COLUMNS: Array<Column<ReceiverRow>> = [
  column('Receiver', '1.6fr', ({ name, target }) => (
    <>
      {name}
      {target && <Hint>{target}</Hint>}
    </>
  )),
  column('State', '115px', ({ status }) => <State of={status} />, { bare: true }),
  column('Events', '1.2fr', ({ events }) => events),
  column('Last 24 hours', '1.2fr', (row) => <Day of={row} />),
  countColumn('Waiting', ({ waiting }) => waiting),
  agoColumn('Last success', ({ last_success_at }) => last_success_at),
];

/** Attempts at an endpoint; at the webhook address, events. */
function Day({ of: { accepted, refused, is_part } }: { of: ReceiverRow }) {
  if (accepted === null || refused === null) return <>–</>;
  if (accepted + refused === 0) return <>none</>;
  return (
    <>
      {countOf(accepted)} accepted,{' '}
      <span className={refused > 0 ? 'refused' : undefined}>{countOf(refused)} not</span>
      {is_part && <Hint>of the latest</Hint>}
    </>
  );
}

function Receivers({ settings, endpoints }: { settings: Settings; endpoints: WebhookEndpoint[] }) {
  const { data: latest } = useQuery(latestEventsQuery);
  const { data: waiting } = useQuery(waitingQuery);
  const navigate = useNavigate();
  const webhook = webhookRow({ settings, endpoints, latest, most: LATEST_EVENTS, waiting });
  return (
    <Rows
      label="Receivers"
      columns={COLUMNS}
      rows={[webhook, ...endpoints.map(endpointRow)]}
      keyOf={({ id }) => id}
      onOpen={({ id }) =>
        void navigate({ to: '/settings/receivers/$endpoint_id', params: { endpoint_id: id } })
      }
    />
  );
}
