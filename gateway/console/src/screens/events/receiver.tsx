// The receivers of events: the name of one with a link to its page, and the health of the webhook.
import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { endpointsQuery } from '../../api/queries';
import type { LoggedEvent } from '../../api/types';
import { Card, TextLink } from '../../parts/layout';
import { ReceiverCharts } from '../../parts/receiver-charts';
import { countOf, nounOf } from '../../period';
import { nameOf, WEBHOOK } from '../settings/receiver-rows';
import { healthOf, seriesOf } from './health';

export function ReceiverName({ endpoint_id }: { endpoint_id: string | null }) {
  const { data } = useQuery({ ...endpointsQuery, enabled: endpoint_id !== null });
  const endpoint = data?.find((one) => one.endpoint_id === endpoint_id);
  return (
    <TextLink
      to="/settings/receivers/$endpoint_id"
      params={{ endpoint_id: endpoint_id ?? WEBHOOK }}
    >
      {endpoint_id === null ? 'Webhook address' : endpoint ? nameOf(endpoint) : endpoint_id}
    </TextLink>
  );
}

const POINTS_MIN = 2;
const amounts = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });

/** The receiver's health: the share of events that it accepted, and how fast. */
export function Receiver({ events }: { events: readonly LoggedEvent[] }) {
  const health = useMemo(() => healthOf(events), [events]);
  if (health.accepted === null) return null;
  const accepted = `${amounts.format(health.accepted)} % of the latest events accepted`;
  const speed =
    health.answer_ms === null ? '' : `; it answers after ${countOf(health.answer_ms)} ms (median)`;
  const failures =
    health.failed === undefined ? '' : `; ${nounOf(health.failed, 'event')} not accepted`;
  const text = accepted + speed + failures;
  return (
    <Card title="Your receiver">
      <Text size="sm" data-testid="receiver">
        {text}
      </Text>
      {health.points.length >= POINTS_MIN && (
        <ReceiverCharts {...seriesOf(health.points)} label={text} />
      )}
    </Card>
  );
}
