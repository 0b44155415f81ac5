// The people that a broadcast wrote to, with the state and, of a failure, the reason. The broadcasts service
// deletes the contacts when a broadcast ends, so the list is that of the message log: what broadcasts of the
// number sent between its start and its end.
import { Anchor, Button, Group, SegmentedControl, Stack, Text, Title } from '@mantine/core';
import { useInfiniteQuery, useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { messagesQuery, timelineQuery } from '../../api/queries';
import type { BroadcastDetail, Message } from '../../api/types';
import { download, toCsv } from '../../parts/csv';
import { Failure } from '../../parts/failure';
import { Loaded } from '../../parts/loaded';
import { State } from '../../parts/state';
import { Time } from '../../parts/time';
import { reasonOf } from '../../reasons';
import { costBeside } from '../../money';
import { readAll } from './read-all';
import { failureOf, recipientsOf, windowOf } from './recipients-of';

const REFRESH_MS = 3_000;
const STATES = [
  { value: '', label: 'All' },
  { value: 'sent', label: 'Sent' },
  { value: 'delivered', label: 'Delivered' },
  { value: 'read', label: 'Read' },
  { value: 'failed', label: 'Failed' },
];

interface RecipientsProps {
  broadcast: BroadcastDetail;
  /** While it runs, the list is read again. */
  running: boolean;
}

export function Recipients({ broadcast, running }: RecipientsProps) {
  const [status, setStatus] = useState('');
  const filter = { ...windowOf(broadcast), status: status || undefined };
  const query = useInfiniteQuery({
    ...messagesQuery(filter),
    enabled: broadcast.started_at !== null,
    refetchInterval: running ? REFRESH_MS : false,
  });
  if (broadcast.started_at === null) return null;
  const messages = recipientsOf(query.data?.pages.flatMap((page) => page.messages) ?? []);
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
                <Recipient key={message.message_id} message={message} id={broadcast.id} />
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

function Recipient({ message, id }: { message: Message; id: number }) {
  const { message_id, phone_number_id, contact, status, updated_at } = message;
  return (
    <li>
      <Anchor
        component={Link}
        to="/messages"
        search={{ open: message_id, number: phone_number_id } as never}
        size="sm"
      >
        {contact ?? message_id}
      </Anchor>
      <State of={status} />
      <Text span size="xs">
        <Time value={updated_at} />, {costBeside(message)}
      </Text>
      {status === 'failed' && <Reason message={message} id={id} />}
    </li>
  );
}

/** The timeline has the upstream's code; it does not change any more. */
function Reason({
  message: { message_id, phone_number_id },
  id,
}: {
  message: Message;
  id: number;
}) {
  const { data } = useQuery({
    ...timelineQuery(message_id, phone_number_id),
    staleTime: Infinity,
  });
  if (!data) return null;
  const code = failureOf(data.entries);
  const other = data.broadcast && data.broadcast.broadcast_id !== id && data.broadcast.name;
  return (
    <Text size="xs" className="recipient-reason">
      {code ? `${code}: ${reasonOf(code) ?? 'see the reference of upstream codes'}` : 'not known'}
      {other && ` (sent by the broadcast “${other}”)`}
    </Text>
  );
}

function ExportRecipients({ broadcast }: { broadcast: BroadcastDetail }) {
  const file = useMutation({
    mutationFn: () => readAll(windowOf(broadcast)),
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

/** Opens a new broadcast with the recipients that this one failed to reach. */
export function ResendToFailed({ broadcast }: { broadcast: BroadcastDetail }) {
  if (broadcast.failed === 0 || broadcast.completed_at === null) return null;
  return (
    <Button
      variant="default"
      component={Link}
      to="/broadcasts/new"
      search={
        {
          copy: broadcast.id,
          number: broadcast.phone_number_id,
          status: 'failed',
        } as never
      }
    >
      Resend to failed
    </Button>
  );
}

/** The failed recipients of a broadcast, for the form of a new one. */
export async function readFailed(broadcast: BroadcastDetail): Promise<string[]> {
  const failed = await readAll({ ...windowOf(broadcast), status: 'failed' });
  return [...new Set(failed.flatMap(({ contact }) => contact ?? []))];
}
