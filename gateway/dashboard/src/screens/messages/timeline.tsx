import { Timeline as Line } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../api/client';
import type { EventPage, LoggedEvent } from '../../api/types';
import { Time } from '../../parts/time';

const EVENTS = 'message.sent,message.delivered,message.read,message.failed';
const POLL_MS = 2_000;
const FOLLOW_MS = 10 * 60_000;
/** The gateway's clock may differ from the browser's. */
const CLOCKS_MS = 60_000;

const idOf = ({ envelope }: LoggedEvent): unknown => envelope.data?.['message_id'];

/** The events of one message, oldest first. They are looked for while the message is new. */
export function Timeline({ message_id }: { message_id: string }) {
  const [from] = useState(() => new Date(Date.now() - CLOCKS_MS).toISOString());
  const query = useQuery({
    queryKey: ['timeline', message_id],
    queryFn: () =>
      call<EventPage>('GET', '/v1/events', {
        query: {
          event: EVENTS,
          from,
          limit: 1_000,
        },
      }),
    refetchInterval: ({ state }) => (state.dataUpdateCount * POLL_MS < FOLLOW_MS ? POLL_MS : false),
    select: ({ events }) => events.filter((event) => idOf(event) === message_id),
  });
  const events = query.data ?? [];
  return (
    <Line active={events.length} bulletSize={14} lineWidth={2} mt="md" aria-label="Timeline">
      <Line.Item title="Accepted by the gateway" />
      {events.map(({ event_id, event, logged_at }) => (
        <Line.Item key={event_id} title={event.replace('message.', '')}>
          <Time value={logged_at} as="exact" />
        </Line.Item>
      ))}
    </Line>
  );
}
