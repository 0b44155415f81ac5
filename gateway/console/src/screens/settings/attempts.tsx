// The latest deliveries of a receiver; one opens the event with its request and answers.
import { Text } from '@mantine/core';
import { useOpened } from '../../parts/filters';
import { Card } from '../../parts/layout';
import { type Column, column, Rows, timeColumn } from '../../parts/rows';
import { State } from '../../parts/values';
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
  column('Event', '1.5fr', ({ event }) => event),
  column('Delivery', '120px', ({ status }) => <State of={status} />, { bare: true }),
  column('Answer', '1.2fr', ({ answer }) => answer),
  column(
    'Duration',
    '100px',
    ({ duration_ms }) => (duration_ms === null ? '–' : `${countOf(duration_ms)} ms`),
    { figure: true },
  ),
  timeColumn('Time', ({ at }) => at),
];

interface AttemptsProps {
  attempts: readonly ListedAttempt[];
  /** Null: the webhook address. */
  endpoint_id: string | null;
}

export function Attempts({ attempts, endpoint_id }: AttemptsProps) {
  const { opened, setOpened, close } = useOpened();
  return (
    <>
      <Rows
        label="Attempts"
        columns={COLUMNS}
        rows={attempts}
        keyOf={({ key }) => key}
        onOpen={({ event_id }) => setOpened(event_id)}
        empty={
          <Card>
            <Text size="sm">No event was delivered in the last days.</Text>
          </Card>
        }
      />
      {opened && <LoggedEventDrawer event_id={opened} endpoint_id={endpoint_id} onClose={close} />}
    </>
  );
}
