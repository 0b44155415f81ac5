// What a broadcast has led to: its cost, its delivery over time, and the people that it wrote to.
import { Button, SegmentedControl, Text } from '@mantine/core';
import { useDidUpdate, useThrottledValue } from '@mantine/hooks';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ledgerOfBroadcastQuery, messagesQuery, readSentBy, useMay } from '../../api/queries';
import type { BroadcastDetail, Message } from '../../api/types';
import { costBeside, spentOf } from '../../money';
import { Chart, WhenSeen } from '../../parts/chart';
import { toCsv } from '../../parts/csv';
import { Export } from '../../parts/export';
import { Failure, Hint, Loaded, Section, TextLink } from '../../parts/layout';
import { Amounts } from '../../parts/tables';
import { State, Time } from '../../parts/values';
import { countOf, durationOf } from '../../period';
import { reasonOf } from '../../reasons';
import { curveOf, type CurvePoint } from './curve';
import { isMoving, isOver, isSettling } from './state-of';

const COST_REFRESH_MS = 10_000;
/** The cost follows the counters of the broadcast, at most this often. */
const FOLLOW_MS = 2_000;

/** Its totals in the ledger, by category and by country. */
export function BroadcastCost({ broadcast }: { broadcast: BroadcastDetail }) {
  // The ledger needs the scope: a developer and support see no costs.
  const is_shown = useMay()('billing') && broadcast.started_at !== null;
  const moves = isMoving(broadcast);
  const query = useQuery({
    ...ledgerOfBroadcastQuery(broadcast.id),
    enabled: is_shown,
    refetchInterval: moves ? COST_REFRESH_MS : false,
  });
  const { total, sent, delivered, failed } = broadcast;
  const is_partial = moves && delivered + failed < total;
  const counters = useThrottledValue(`${sent}/${delivered}/${failed}`, FOLLOW_MS);
  useDidUpdate(() => {
    if (is_shown) void query.refetch();
  }, [counters]);
  if (!is_shown) return null;
  const { data: totals, error } = query;
  return (
    <Section title="Cost">
      {error && (
        <Failure error={error} title="The cost was not read" retry={() => void query.refetch()} />
      )}
      <Text size="sm" data-testid="broadcast-cost">
        {totals
          ? `${spentOf(totals)}${is_partial ? ' so far' : ''}`
          : !error && 'Reading the ledger …'}
      </Text>
      {is_partial && (
        <Hint>
          A message is charged when its delivery is reported, which may be minutes after it was
          sent.
        </Hint>
      )}
      {totals && totals.messages > 0 && (
        <>
          <Amounts
            head="Category"
            label="Cost by category"
            unknown="not known yet"
            rows={totals.by_category.map((row) => ({ ...row, name: row.category }))}
          />
          <Amounts
            head="Country"
            label="Cost by country"
            unknown="not known yet"
            rows={totals.by_market.map((row) => ({ ...row, name: row.market }))}
          />
        </>
      )}
    </Section>
  );
}

const LINES = [
  { key: 'sent', name: 'Sent', colour: 'accent' },
  { key: 'delivered', name: 'Delivered', colour: 'good' },
  { key: 'failed', name: 'Failed', colour: 'bad' },
] as const;
const HEIGHT_PX = 300;
const SECOND_MS = 1_000;
/** Statuses come for a while after the end. */
const CURVE_REFRESH_MS = 15_000;

/** It reads every message of the broadcast, so it waits until it is seen. */
export function DeliveryCurve({ broadcast }: { broadcast: BroadcastDetail }) {
  if (broadcast.started_at === null) return null;
  return (
    <Section title="Delivery over time">
      <WhenSeen height={HEIGHT_PX}>
        <Curve broadcast={broadcast} />
      </WhenSeen>
    </Section>
  );
}

function Curve({ broadcast }: { broadcast: BroadcastDetail }) {
  const { id } = broadcast;
  const query = useQuery({
    queryKey: ['curve', id],
    queryFn: async () => curveOf(await readSentBy(id)),
    refetchInterval: !isOver(broadcast) || isSettling(broadcast) ? CURVE_REFRESH_MS : false,
  });
  return (
    <Loaded query={query} what="the messages of the broadcast" lines={5}>
      {(points) => <Drawn points={points} />}
    </Loaded>
  );
}

function Drawn({ points }: { points: CurvePoint[] }) {
  const [first, last] = [points[0], points.at(-1)];
  if (!first || !last) return <Text size="sm">No message was sent yet.</Text>;
  const seconds = Math.ceil((last.at_ms - first.at_ms) / SECOND_MS);
  return (
    <>
      <Chart
        kind="lines"
        title="Delivery over time"
        label={`${countOf(last.delivered)} of ${countOf(last.sent)} messages delivered and ${countOf(last.failed)} failed within ${durationOf(seconds)}`}
        times_ms={points.map(({ at_ms }) => at_ms)}
        series={LINES.map(({ key, ...one }) => ({
          ...one,
          values: points.map((point) => point[key]),
        }))}
        format={countOf}
      />
      <Hint mt="xs">
        Only the latest status of a message has a time: one that was read counts as delivered when
        it was read.
      </Hint>
    </>
  );
}

const RECIPIENTS_REFRESH_MS = 3_000;
const STATES = [
  { value: '', label: 'All' },
  { value: 'sent', label: 'Sent' },
  { value: 'delivered', label: 'Delivered' },
  { value: 'read', label: 'Read' },
  { value: 'failed', label: 'Failed' },
];

/**
 * The broadcasts service deletes the contacts when a broadcast ends, so the list is that of the
 * message log.
 */
export function Recipients({ broadcast }: { broadcast: BroadcastDetail }) {
  const [status, setStatus] = useState('');
  const filter = { broadcast_id: broadcast.id, status: status || undefined };
  const query = useInfiniteQuery({
    ...messagesQuery(filter),
    enabled: broadcast.started_at !== null,
    refetchInterval: isMoving(broadcast) ? RECIPIENTS_REFRESH_MS : false,
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
