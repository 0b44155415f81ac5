// The messages that were sent, found by recipient, ID, state, number and day, and the history of
// each.
import { Button, Stack } from '@mantine/core';
import { PlusIcon } from '@radix-ui/react-icons';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { messagesQuery, timelineQuery, type MessageFilter } from '../api/queries';
import type { Message } from '../api/types';
import { costOf } from '../money';
import { Panel, type Closing } from '../parts/dialogs';
import { FilterDays, Filters, FilterSelect, FilterText } from '../parts/filter-fields';
import { momentsOf, useFilters, useOpened } from '../parts/filters';
import { ButtonLink, Card, Empty, Facts, Loaded, Page, TextLink } from '../parts/layout';
import { NumberFilter, NumberName } from '../parts/numbers';
import { type Column, column, nextPageOf, Rows, timeColumn } from '../parts/rows';
import { Id, State, yesNo } from '../parts/values';
import type { Search } from '../search';
import { MessageSteps, type MessageProps } from './messages/steps';

const COLUMNS: Array<Column<Message>> = [
  column('To', '1.2fr', ({ contact }) => contact ?? '–'),
  column('State', '105px', ({ status }) => <State of={status} />, { bare: true }),
  column('Kind', '85px', ({ kind }) => kind, { from: 'wide' }),
  column(
    'Category',
    '115px',
    ({ pricing }) =>
      pricing ? `${pricing.category ?? '–'}${pricing.billable === false ? ', free' : ''}` : '–',
    { from: 'middle' },
  ),
  column('Cost', '105px', costOf, { figure: true }),
  column('Number', '145px', ({ phone_number_id }) => <NumberName id={phone_number_id} />, {
    from: 'wide',
  }),
  timeColumn('Sent', ({ at }) => at),
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
  const [filters] = useFilters();
  const { opened, setOpened, close } = useOpened();
  const query = useInfiniteQuery({
    ...messagesQuery(filterOf(filters)),
    refetchInterval: REFRESH_MS,
  });
  const searchOn = nextPageOf(query);
  return (
    <Page
      title="Messages"
      description="What you sent in the last 90 days, newest first. Texts are not stored."
      actions={
        <ButtonLink to="/messages/new" variant="filled" leftSection={<PlusIcon aria-hidden />}>
          Send a test message
        </ButtonLink>
      }
    >
      <Stack gap="sm">
        <Filters>
          <FilterText name="find" label="Recipient or message ID" placeholder="15550100777" />
          <FilterSelect name="status" label="State" all="states" data={STATES} />
          <NumberFilter />
          <FilterDays />
        </Filters>
        <Loaded query={query} what="the messages">
          {({ pages }) => (
            <Rows
              label="Messages"
              columns={COLUMNS}
              rows={pages.flatMap(({ messages }) => messages)}
              keyOf={({ message_id }) => message_id}
              onOpen={({ message_id }) => setOpened(message_id)}
              paging={query}
              empty={
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
              }
            />
          )}
        </Loaded>
      </Stack>
      {opened && (
        <MessageDrawer message_id={opened} phone_number_id={filters.number} onClose={close} />
      )}
    </Page>
  );
}

const MessageDrawer = ({ onClose, ...message }: Closing<MessageProps>) => (
  <Panel onClose={onClose} title="Message">
    <Stack gap="lg">
      <About {...message} />
      <MessageSteps {...message} />
    </Stack>
  </Panel>
);

/** Failures are shown with the steps. */
function About({ message_id, phone_number_id }: MessageProps) {
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
              <TextLink
                to="/messages/conversation"
                search={{ number: message.phone_number_id, find: message.contact }}
              >
                Conversation
              </TextLink>
            </>
          ),
        ],
        ['Kind', message.kind],
        ['Message ID', <Id of="message" text={message_id} />],
        ['Category', message.pricing?.category],
        ['Billable', yesNo(message.pricing?.billable)],
        ['Cost', message.cost && costOf(message)],
        ['Cost not known', message.cost?.reason],
        ['Number ID', message.phone_number_id],
        [
          'Broadcast',
          broadcast && (
            <TextLink to="/broadcasts" search={{ open: String(broadcast.broadcast_id) }}>
              {broadcast.name}
            </TextLink>
          ),
        ],
      ]}
    />
  );
}
