import { Text } from '@mantine/core';
import { useMemo } from 'react';
import type { LoggedEvent } from '../../api/types';
import { Card } from '../../parts/card';
import { ReceiverCharts } from '../../parts/receiver-charts';
import { countOf, nounOf } from '../../period';
import { healthOf, seriesOf } from './health';

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
