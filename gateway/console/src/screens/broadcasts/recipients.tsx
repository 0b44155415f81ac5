// The people that a broadcast wrote to, with the state and, of a failure, the reason. The
// broadcasts service deletes the contacts when a broadcast ends, so the list is that of the message
// log.
import { Button, SegmentedControl, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { messagesQuery, readSentBy } from '../../api/queries';
import type { BroadcastDetail, Message } from '../../api/types';
import { costBeside } from '../../money';
import { toCsv } from '../../parts/csv';
import { Export } from '../../parts/export';
import { Section } from '../../parts/layout';
import { TextLink } from '../../parts/links';
import { Loaded } from '../../parts/loaded';
import { State, Time } from '../../parts/values';
import { reasonOf } from '../../reasons';
import { isMoving } from './state-of';

const REFRESH_MS = 3_000;
const STATES = [
  { value: '', label: 'All' },
  { value: 'sent', label: 'Sent' },
  { value: 'delivered', label: 'Delivered' },
  { value: 'read', label: 'Read' },
  { value: 'failed', label: 'Failed' },
];

export function Recipients({ broadcast }: { broadcast: BroadcastDetail }) {
  const [status, setStatus] = useState('');
  const filter = { broadcast_id: broadcast.id, status: status || undefined };
  const query = useInfiniteQuery({
    ...messagesQuery(filter),
    enabled: broadcast.started_at !== null,
    refetchInterval: isMoving(broadcast) ? REFRESH_MS : false,
  });
  if (broadcast.started_at === null) return null;
  const messages = query.data?.pages.flatMap((page) => page.messages) ?? [];
  return (
    <Section
      title="Recipients"
      aside={
        <Export
          label="Export recipients"
          failure="The recipients were not exported"
          file={`broadcast-${broadcast.id}-recipients.csv`}
          read={async () => recipientsCsv(await readSentBy(broadcast.id))}
          size="xs"
        />
      }
    >
      <SegmentedControl
        aria-label="State of the recipients"
        size="xs"
        w="fit-content"
        value={status}
        onChange={setStatus}
        data={STATES}
      />
      <Loaded query={query} what="the recipients">
        {() => (
          <>
            {messages.length === 0 && <Text size="sm">No recipient is in this state.</Text>}
            <ul className="recipients" aria-label="Recipients">
              {messages.map((message) => (
                <Recipient key={message.message_id} message={message} />
              ))}
            </ul>
            {query.hasNextPage && (
              <Button
                variant="default"
                size="xs"
                w="fit-content"
                loading={query.isFetchingNextPage}
                onClick={() => void query.fetchNextPage()}
              >
                Show more
              </Button>
            )}
          </>
        )}
      </Loaded>
    </Section>
  );
}

const Recipient = ({ message }: { message: Message }) => (
  <li>
    <TextLink to="/messages" search={{ open: message.message_id, number: message.phone_number_id }}>
      {message.contact ?? message.message_id}
    </TextLink>
    <State of={message.status} />
    <Text span size="xs">
      <Time value={message.updated_at} />, {costBeside(message)}
    </Text>
    {message.status === 'failed' && (
      <Text size="xs" className="recipient-reason">
        {failureOf(message)}
      </Text>
    )}
  </li>
);

const failureOf = ({ error_code: code }: Message): string =>
  code ? `${code}: ${reasonOf(code) ?? 'see the reference of upstream codes'}` : 'not known';

const recipientsCsv = (messages: readonly Message[]): string =>
  toCsv([
    ['recipient', 'state', 'updated_at', 'message_id'],
    ...messages.map(({ contact, status, updated_at, message_id }) => [
      contact ?? '',
      status ?? '',
      updated_at,
      message_id,
    ]),
  ]);
