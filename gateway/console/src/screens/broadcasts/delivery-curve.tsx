// The delivery of a broadcast over time. It reads every message of the broadcast, so it waits until
// it is seen.
import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { readSentBy } from '../../api/queries';
import type { BroadcastDetail } from '../../api/types';
import { Chart, WhenSeen } from '../../parts/chart';
import { Hint, Section } from '../../parts/layout';
import { Loaded } from '../../parts/loaded';
import { countOf, durationOf } from '../../period';
import { curveOf, type CurvePoint } from './curve';
import { isOver, isSettling } from './state-of';

const LINES = [
  { key: 'sent', name: 'Sent', colour: 'accent' },
  { key: 'delivered', name: 'Delivered', colour: 'good' },
  { key: 'failed', name: 'Failed', colour: 'bad' },
] as const;
const HEIGHT_PX = 300;
const SECOND_MS = 1_000;
/** Statuses come for a while after the end. */
const REFRESH_MS = 15_000;

export function DeliveryCurve({ broadcast }: { broadcast: BroadcastDetail }) {
  if (broadcast.started_at === null) return null;
  return (
    <Section title="Delivery over time">
      <WhenSeen height={HEIGHT_PX}>
        <Curve broadcast={broadcast} />
      </WhenSeen>
    </Section>
  );
}

function Curve({ broadcast }: { broadcast: BroadcastDetail }) {
  const { id } = broadcast;
  const query = useQuery({
    queryKey: ['curve', id],
    queryFn: async () => curveOf(await readSentBy(id)),
    refetchInterval: !isOver(broadcast) || isSettling(broadcast) ? REFRESH_MS : false,
  });
  return (
    <Loaded query={query} what="the messages of the broadcast" lines={5}>
      {(points) => <Drawn points={points} />}
    </Loaded>
  );
}

function Drawn({ points }: { points: CurvePoint[] }) {
  const [first, last] = [points[0], points.at(-1)];
  if (!first || !last) return <Text size="sm">No message was sent yet.</Text>;
  const seconds = Math.ceil((last.at_ms - first.at_ms) / SECOND_MS);
  return (
    <>
      <Chart
        kind="lines"
        title="Delivery over time"
        label={`${countOf(last.delivered)} of ${countOf(last.sent)} messages delivered and ${countOf(last.failed)} failed within ${durationOf(seconds)}`}
        times_ms={points.map(({ at_ms }) => at_ms)}
        series={LINES.map(({ key, ...one }) => ({
          ...one,
          values: points.map((point) => point[key]),
        }))}
        format={countOf}
      />
      <Hint mt="xs">
        Only the latest status of a message has a time: one that was read counts as delivered when
        it was read.
      </Hint>
    </>
  );
}
