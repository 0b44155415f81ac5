// The overview: key figures, and what needs attention.
import {
  Anchor,
  Alert,
  Group,
  List,
  SegmentedControl,
  SimpleGrid,
  Stack,
  Text,
} from '@mantine/core';
import { CheckCircledIcon } from '@radix-ui/react-icons';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import {
  billingQuery,
  clientsQuery,
  eventFiguresQuery,
  failedEventsQuery,
  noticesQuery,
  settingsQuery,
  usageQuery,
} from '../api/queries';
import type { Counts, Usage } from '../api/types';
import { attentionOf, type Attention } from '../attention';
import { ownCallsOf } from '../own-calls';
import { Card } from '../parts/card';
import { Loaded } from '../parts/loaded';
import { Page } from '../parts/page';
import { useFilters } from '../parts/search';
import { State } from '../parts/state';
import { countOf, percent, periodOf, PERIODS, type Period } from '../period';

export function Screen() {
  const [{ period = 'week' }, setFilters] = useFilters();
  return (
    <Page
      title="Overview"
      actions={
        <SegmentedControl
          aria-label="Period"
          value={period}
          onChange={(value) => setFilters({ period: value as Period })}
          data={PERIODS}
        />
      }
    >
      <NeedsAttention />
      <Figures period={period} />
      <Notices />
    </Page>
  );
}

const totalsOf = ({ messages }: Usage): Counts =>
  Object.values(messages).reduce(
    (sum, counts) => ({
      sent: sum.sent + counts.sent,
      delivered: sum.delivered + counts.delivered,
      read: sum.read + counts.read,
      failed: sum.failed + counts.failed,
      billable: sum.billable + counts.billable,
      free: sum.free + counts.free,
    }),
    { sent: 0, delivered: 0, read: 0, failed: 0, billable: 0, free: 0 },
  );

function Figures({ period }: { period: Period }) {
  const { from, to } = periodOf(period);
  const query = useQuery({ ...usageQuery(from, to), placeholderData: (before) => before });
  return (
    <Loaded query={query} what="the figures" lines={3}>
      {(usage) => {
        const totals = totalsOf(usage);
        const { calls, errors } = ownCallsOf(usage);
        return (
          <SimpleGrid cols={{ base: 2, md: 3 }} spacing="md">
            <Figure name="Sent" value={totals.sent} note={`${countOf(totals.billable)} billable`} />
            <Figure
              name="Delivered"
              value={totals.delivered}
              note={`${percent(totals.delivered, totals.sent)} of sent`}
            />
            <Figure
              name="Failed"
              value={totals.failed}
              note={`${percent(totals.failed, totals.sent)} of sent`}
            />
            <Figure
              name="API calls"
              value={calls}
              note={`${percent(errors, calls)} with an error`}
            />
            <EventFigures from={from} />
          </SimpleGrid>
        );
      }}
    </Loaded>
  );
}

function EventFigures({ from }: { from: string }) {
  const query = useQuery({ ...eventFiguresQuery(from), placeholderData: (before) => before });
  return (
    <Loaded query={query} what="the figures of events" lines={1}>
      {({ events, attempted, delivered }) => (
        <>
          <Figure name="Events" value={events} note="in your log" />
          <Figure
            name="Accepted by your webhook"
            value={percent(delivered, attempted)}
            note={
              attempted > 0 ? `of the latest ${countOf(attempted)} events` : 'none was sent yet'
            }
          />
        </>
      )}
    </Loaded>
  );
}

const Figure = ({ name, value, note }: { name: string; value: number | string; note: string }) => (
  <Card>
    <Text size="sm" c="dimmed">
      {name}
    </Text>
    <Text fz={30} fw={650} lh={1.2}>
      {typeof value === 'number' ? countOf(value) : value}
    </Text>
    <Text size="xs" c="dimmed">
      {note}
    </Text>
  </Card>
);

function NeedsAttention() {
  const settings = useQuery(settingsQuery);
  const clients = useQuery(clientsQuery);
  const billing = useQuery(billingQuery);
  const failed = useInfiniteQuery(failedEventsQuery());
  const first = failed.data?.pages[0];
  const found = attentionOf({
    settings: settings.data,
    clients: clients.data,
    billing: billing.data,
    failed_events: first && (first.total ?? first.count),
  });
  const complete = settings.data && clients.data && billing.data && first;
  return (
    <Card title="Needs attention">
      <Stack gap="xs" aria-live="polite">
        {found.map((item) => (
          <AttentionItem key={item.id} item={item} />
        ))}
        {found.length === 0 && complete && (
          <Group gap="xs" wrap="nowrap">
            <CheckCircledIcon aria-hidden color="var(--mantine-color-green-text)" />
            <Text size="sm">Everything works: nothing needs your attention.</Text>
          </Group>
        )}
        {[settings, clients, billing].map(
          (query, index) =>
            query.error && (
              <Loaded key={index} query={query as never} what="a part of this list">
                {() => null}
              </Loaded>
            ),
        )}
      </Stack>
    </Card>
  );
}

const AttentionItem = ({ item }: { item: Attention }) => (
  <Alert variant="light" color={item.severe ? 'red' : 'yellow'} p="sm" title={item.title}>
    <Text size="sm">{item.text}</Text>
    <Anchor component={Link} to={item.to} search={(item.search ?? {}) as never} size="sm" fw={600}>
      {item.action}
    </Anchor>
  </Alert>
);

function Notices() {
  const query = useQuery(noticesQuery);
  return (
    <Card
      title="Notices"
      aside={
        <Anchor href="../changelog" size="sm">
          Changelog
        </Anchor>
      }
    >
      <Loaded query={query} what="the notices">
        {(notices) =>
          notices.length === 0 ? (
            <Text size="sm">There are no notices.</Text>
          ) : (
            <List spacing="md" listStyleType="none">
              {notices.map(({ id, severity, effective, text }) => (
                <List.Item key={id}>
                  <Group gap="xs">
                    <State of={severity} />
                    <Text size="sm" c="dimmed">
                      effective {effective}
                    </Text>
                  </Group>
                  <Text size="sm" mt={4}>
                    {text}
                  </Text>
                </List.Item>
              ))}
            </List>
          )
        }
      </Loaded>
    </Card>
  );
}
