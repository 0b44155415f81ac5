// The messages that were sent, found by recipient, ID, state, number and day, and the history of
// each.
import { Anchor, Button, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { PlusIcon } from '@radix-ui/react-icons';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { messagesQuery, timelineQuery, type MessageFilter } from '../api/queries';
import type { Message } from '../api/types';
import { costOf } from '../money';
import { Card } from '../parts/card';
import { Copy } from '../parts/copy';
import { DayFields, momentsOf } from '../parts/days';
import { Empty } from '../parts/empty';
import { Facts } from '../parts/facts';
import { Loaded } from '../parts/loaded';
import { NumberName } from '../parts/number-name';
import { NumberFilter } from '../parts/number-select';
import { Page } from '../parts/page';
import { Panel } from '../parts/panel';
import { Rows, type Column } from '../parts/rows';
import { useFilters, useTyped } from '../parts/search';
import { State } from '../parts/state';
import { Time, zoned } from '../parts/time';
import type { Search } from '../search';
import { MessageSteps } from './messages/steps';

const COLUMNS: Array<Column<Message>> = [
  { title: 'To', width: '1.2fr', cell: ({ contact }) => contact ?? '–' },
  { title: 'State', width: '105px', cell: ({ status }) => <State of={status} /> },
  { title: 'Kind', from: 'wide', width: '85px', cell: ({ kind }) => kind, labelled: true },
  {
    title: 'Category',
    from: 'middle',
    width: '115px',
    cell: ({ pricing }) =>
      pricing ? `${pricing.category ?? '–'}${pricing.billable === false ? ', free' : ''}` : '–',
    labelled: true,
  },
  { title: 'Cost', width: '105px', cell: costOf, labelled: true, figure: true },
  {
    title: 'Number',
    from: 'wide',
    width: '145px',
    cell: ({ phone_number_id }) => <NumberName id={phone_number_id} />,
    labelled: true,
  },
  {
    title: zoned('Sent'),
    width: '130px',
    cell: ({ at }) => <Time value={at} as="row" />,
    labelled: true,
  },
];

const STATES = ['accepted', 'sent', 'delivered', 'read', 'failed'];
const REFRESH_MS = 10_000;

function filterOf({ find, status, number, ...period }: Search): MessageFilter {
  const text = find?.trim();
  const is_id = text?.startsWith('wamid.');
  return {
    phone_number_id: number,
    message_id: is_id ? text : undefined,
    recipient: is_id ? undefined : text,
    status,
    ...momentsOf(period),
  };
}

export function Screen() {
  const [filters, setFilters] = useFilters();
  const query = useInfiniteQuery({
    ...messagesQuery(filterOf(filters)),
    refetchInterval: REFRESH_MS,
  });
  const messages = query.data?.pages.flatMap((page) => page.messages) ?? [];
  const searchOn = query.hasNextPage
    ? () => void (query.isFetchingNextPage || query.fetchNextPage())
    : undefined;
  return (
    <Page
      title="Messages"
      description="What you sent in the last 90 days, newest first. Texts are not stored."
      actions={
        <Button component={Link} to="/messages/new" leftSection={<PlusIcon aria-hidden />}>
          Send a test message
        </Button>
      }
    >
      <Stack gap="sm">
        <Filters />
        <Loaded query={query as never} what="the messages">
          {() =>
            messages.length > 0 ? (
              <Rows
                label="Messages"
                columns={COLUMNS}
                rows={messages}
                keyOf={({ message_id }) => message_id}
                onOpen={({ message_id }) => setFilters({ open: message_id })}
                onEnd={searchOn}
              />
            ) : (
              <Card>
                <Empty title="No message was found">
                  {searchOn
                    ? 'The search has not reached the oldest messages yet.'
                    : 'Try other filters, or send a test message.'}
                </Empty>
                {searchOn && (
                  <Button variant="default" loading={query.isFetchingNextPage} onClick={searchOn}>
                    Search further back
                  </Button>
                )}
              </Card>
            )
          }
        </Loaded>
      </Stack>
      {filters.open && (
        <MessageDrawer
          message_id={filters.open}
          phone_number_id={filters.number}
          onClose={() => setFilters({ open: undefined })}
        />
      )}
    </Page>
  );
}

function Filters() {
  const [{ find, status }, setFilters] = useFilters();
  const [text, setText] = useTyped(find, (wanted) => setFilters({ find: wanted }));
  return (
    <Group gap="sm" align="flex-end" className="filters">
      <TextInput
        label="Recipient or message ID"
        placeholder="15550100777"
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <Select
        label="State"
        placeholder="All states"
        data={STATES}
        value={status ?? null}
        onChange={(value) => setFilters({ status: value ?? undefined })}
        clearable
        clearButtonProps={{ 'aria-label': 'Show all states' }}
      />
      <NumberFilter />
      <DayFields />
    </Group>
  );
}

interface DrawerProps {
  message_id: string;
  phone_number_id: string | undefined;
  onClose: () => void;
}

const MessageDrawer = ({ message_id, phone_number_id, onClose }: DrawerProps) => (
  <Panel onClose={onClose} title="Message">
    <Stack gap="lg">
      <About message_id={message_id} phone_number_id={phone_number_id} />
      <MessageSteps message_id={message_id} phone_number_id={phone_number_id} />
    </Stack>
  </Panel>
);

const yesNo = (value: boolean | null | undefined): string | undefined =>
  value === true ? 'yes' : value === false ? 'no' : undefined;

/** Failures are shown with the steps. */
function About({ message_id, phone_number_id }: Omit<DrawerProps, 'onClose'>) {
  const { data } = useQuery(timelineQuery(message_id, phone_number_id));
  if (!data) return null;
  const { message, broadcast } = data;
  return (
    <Facts
      of={[
        ['State', <State of={message.status} />],
        [
          message.direction === 'inbound' ? 'From' : 'To',
          message.contact && (
            <>
              {message.contact}{' '}
              <Anchor
                component={Link}
                to="/messages/conversation"
                search={{ number: message.phone_number_id, find: message.contact } as never}
                size="sm"
              >
                Conversation
              </Anchor>
            </>
          ),
        ],
        ['Kind', message.kind],
        [
          'Message ID',
          <span>
            {message_id} <Copy text={message_id} label="Copy the message ID" />
          </span>,
        ],
        ['Category', message.pricing?.category],
        ['Billable', yesNo(message.pricing?.billable)],
        ['Cost', message.cost && costOf(message)],
        ['Cost not known', message.cost?.reason],
        ['Number ID', message.phone_number_id],
        [
          'Broadcast',
          broadcast && (
            <Anchor
              component={Link}
              to="/broadcasts"
              search={{ open: String(broadcast.broadcast_id) } as never}
            >
              <Text span size="sm">
                {broadcast.name}
              </Text>
            </Anchor>
          ),
        ],
      ]}
    />
  );
}
