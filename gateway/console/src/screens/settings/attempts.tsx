// The latest deliveries of a receiver; one opens the event with its request and answers.
import { Text } from '@mantine/core';
import { Card } from '../../parts/card';
import { Rows, type Column } from '../../parts/rows';
import { useFilters } from '../../parts/search';
import { State } from '../../parts/state';
import { Time, zoned } from '../../parts/time';
import { countOf } from '../../period';
import { LoggedEventDrawer } from '../events/logged';

export interface ListedAttempt {
  key: string;
  event_id: string;
  event: string;
  at: string;
  status: string;
  answer: string;
  duration_ms: number | null;
}

const COLUMNS: Array<Column<ListedAttempt>> = [
  { title: 'Event', width: '1.5fr', cell: ({ event }) => event },
  { title: 'Delivery', width: '120px', cell: ({ status }) => <State of={status} /> },
  { title: 'Answer', width: '1.2fr', cell: ({ answer }) => answer, labelled: true },
  {
    title: 'Duration',
    width: '100px',
    cell: ({ duration_ms }) => (duration_ms === null ? '–' : `${countOf(duration_ms)} ms`),
    labelled: true,
    figure: true,
  },
  {
    title: zoned('Time'),
    width: '150px',
    cell: ({ at }) => <Time value={at} as="row" />,
    labelled: true,
  },
];

interface AttemptsProps {
  attempts: readonly ListedAttempt[];
  /** Null: the webhook address. */
  endpoint_id: string | null;
}

export function Attempts({ attempts, endpoint_id }: AttemptsProps) {
  const [{ open }, setFilters] = useFilters();
  return (
    <>
      {attempts.length > 0 ? (
        <Rows
          label="Attempts"
          columns={COLUMNS}
          rows={attempts}
          keyOf={({ key }) => key}
          onOpen={({ event_id }) => setFilters({ open: event_id })}
        />
      ) : (
        <Card>
          <Text size="sm">No event was delivered in the last days.</Text>
        </Card>
      )}
      {open && (
        <LoggedEventDrawer
          event_id={open}
          endpoint_id={endpoint_id}
          onClose={() => setFilters({ open: undefined })}
        />
      )}
    </>
  );
}
