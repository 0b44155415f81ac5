// The people that a broadcast wrote to, with the state and, of a failure, the reason. The
// broadcasts service deletes the contacts when a broadcast ends, so the list is that of the message
// log.
import { Anchor, Button, Group, SegmentedControl, Stack, Text, Title } from '@mantine/core';
import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { messagesQuery } from '../../api/queries';
import type { BroadcastDetail, Message } from '../../api/types';
import { download, toCsv } from '../../parts/csv';
import { Failure } from '../../parts/failure';
import { Loaded } from '../../parts/loaded';
import { State } from '../../parts/state';
import { Time } from '../../parts/time';
import { reasonOf } from '../../reasons';
import { costBeside } from '../../money';
import { readAll } from './read-all';
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
    <Stack gap="xs">
      <Group justify="space-between">
        <Title order={3} size="h5">
          Recipients
        </Title>
        <ExportRecipients broadcast={broadcast} />
      </Group>
      <SegmentedControl
        aria-label="State of the recipients"
        size="xs"
        w="fit-content"
        value={status}
        onChange={setStatus}
        data={STATES}
      />
      <Loaded query={query as never} what="the recipients">
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
    </Stack>
  );
}

const Recipient = ({ message }: { message: Message }) => (
  <li>
    <Anchor
      component={Link}
      to="/messages"
      search={{ open: message.message_id, number: message.phone_number_id } as never}
      size="sm"
    >
      {message.contact ?? message.message_id}
    </Anchor>
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

function ExportRecipients({ broadcast }: { broadcast: BroadcastDetail }) {
  const file = useMutation({
    mutationFn: () => readAll(broadcast.id),
    onSuccess: (messages) =>
      download(
        `broadcast-${broadcast.id}-recipients.csv`,
        toCsv([
          ['recipient', 'state', 'updated_at', 'message_id'],
          ...messages.map(({ contact, status, updated_at, message_id }) => [
            contact ?? '',
            status ?? '',
            updated_at,
            message_id,
          ]),
        ]),
      ),
  });
  return (
    <>
      <Button size="xs" variant="default" loading={file.isPending} onClick={() => file.mutate()}>
        Export recipients
      </Button>
      {file.error && <Failure error={file.error} title="The recipients were not exported" />}
    </>
  );
}
