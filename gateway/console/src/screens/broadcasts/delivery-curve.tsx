// The delivery curve of a broadcast: drawn on request, because it reads every message of the
// broadcast.
import { Button, Stack, Table, Text, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { BroadcastDetail } from '../../api/types';
import { Failure } from '../../parts/failure';
import { focusOnMount } from '../../parts/focus-on-mount';
import { Time } from '../../parts/time';
import { countOf, durationOf } from '../../period';
import { curveOf, type CurvePoint } from './curve';
import { readAll } from './read-all';

const LINES = ['sent', 'delivered', 'failed'] as const;
const TITLES = { sent: 'Sent', delivered: 'Delivered', failed: 'Failed' } as const;
/** In units of the picture, which fills the width of its container. */
const WIDTH = 720;
const HEIGHT = 160;
/** Room for the width of a line at the top and at the bottom. */
const MARGIN = 3;
/** Every nth point is a row of the table. */
const ROWS_EVERY = 5;
const SECOND_MS = 1_000;

export function DeliveryCurve({ broadcast }: { broadcast: BroadcastDetail }) {
  const curve = useMutation({ mutationFn: async () => curveOf(await readAll(broadcast.id)) });
  if (broadcast.started_at === null) return null;
  return (
    <Stack gap="xs">
      <Title order={3} size="h5">
        Delivery over time
      </Title>
      {curve.data && <Drawn points={curve.data} />}
      {curve.error && <Failure error={curve.error} title="The messages could not be read" />}
      <Button
        size="xs"
        variant="default"
        w="fit-content"
        loading={curve.isPending}
        onClick={() => curve.mutate()}
      >
        {curve.data ? 'Draw it again' : 'Draw the curve'}
      </Button>
    </Stack>
  );
}

function Drawn({ points }: { points: CurvePoint[] }) {
  const [first, last] = [points[0], points.at(-1)];
  if (!first || !last) return <Text size="sm">No message was sent yet.</Text>;
  const seconds = Math.ceil((last.at_ms - first.at_ms) / SECOND_MS);
  const label = `${countOf(last.delivered)} of ${countOf(last.sent)} messages delivered and ${countOf(last.failed)} failed within ${durationOf(seconds)}`;
  return (
    <div ref={focusOnMount} tabIndex={-1} className="focused-content">
      <ul className="traffic-legend">
        {LINES.map((name) => (
          <li key={name} className={`traffic-${name}`}>
            {TITLES[name]}
          </li>
        ))}
      </ul>
      <svg
        className="traffic"
        role="img"
        aria-label={label}
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
      >
        {LINES.map((name) => (
          <polyline key={name} className={`traffic-${name}`} points={lineOf(points, name, last)} />
        ))}
      </svg>
      <div className="traffic-axis">
        <Time value={timeOf(first)} as="exact" />
        <Time value={timeOf(last)} as="exact" />
      </div>
      <Figures points={points} />
      <Text size="xs" c="dimmed" mt="xs">
        Only the latest status of a message has a time: one that was read counts as delivered when
        it was read.
      </Text>
    </div>
  );
}

const timeOf = ({ at_ms }: CurvePoint): string => new Date(at_ms).toISOString();

const lineOf = (points: CurvePoint[], name: (typeof LINES)[number], { sent }: CurvePoint): string =>
  points
    .map((point, at) => {
      const height = (point[name] / sent) * (HEIGHT - 2 * MARGIN);
      return `${(at / (points.length - 1)) * WIDTH},${HEIGHT - MARGIN - height}`;
    })
    .join(' ');

const Figures = ({ points }: { points: CurvePoint[] }) => (
  <details>
    <summary>The curve as a table</summary>
    <Table>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Until</Table.Th>
          {LINES.map((name) => (
            <Table.Th key={name} ta="right">
              {TITLES[name]}
            </Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {points
          .filter((_point, at) => at % ROWS_EVERY === 0)
          .map((point) => (
            <Table.Tr key={point.at_ms}>
              <Table.Td>
                <Time value={timeOf(point)} as="exact" />
              </Table.Td>
              {LINES.map((name) => (
                <Table.Td key={name} ta="right">
                  {countOf(point[name])}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
      </Table.Tbody>
    </Table>
  </details>
);
