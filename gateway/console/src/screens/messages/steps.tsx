// The timeline of one message: our request upstream, its statuses, and the events about it that the
// partner received.
import { Alert, Code, Group, List, Text, Timeline } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { timelineQuery } from '../../api/queries';
import type { TimelineEntry } from '../../api/types';
import { Loaded } from '../../parts/layout';
import { Copy, Time } from '../../parts/values';
import { stepsOf, type Step } from './group-attempts';

const POLL_MS = 2_000;
/** Statuses follow a send within seconds; a message that was read has no further one. */
const FOLLOW_MS = 10 * 60_000;

export interface MessageProps {
  message_id: string;
  phone_number_id: string | undefined;
}

/** Read again while the message is new. */
export function MessageSteps({ message_id, phone_number_id }: MessageProps) {
  const query = useQuery({
    ...timelineQuery(message_id, phone_number_id),
    refetchInterval: ({ state: { data } }) =>
      data && Date.now() - Date.parse(data.message.at) < FOLLOW_MS ? POLL_MS : false,
  });
  return (
    <Loaded query={query} what="the timeline" lines={6}>
      {({ entries, missing }) => (
        <>
          {missing.length > 0 && (
            <Alert color="yellow" variant="light">
              {`These parts could not be read now: ${missing.join(', ')}.`}
            </Alert>
          )}
          <Steps steps={stepsOf(entries)} />
        </>
      )}
    </Loaded>
  );
}

const Steps = ({ steps }: { steps: Step[] }) => (
  <Timeline active={steps.length} bulletSize={16} lineWidth={2} aria-label="Timeline">
    {steps.map(({ entry, attempts }, at) => (
      <Timeline.Item key={at} title={titleOf(entry)} color={colorOf(entry)}>
        <Group gap="xs">
          <Text span size="sm">
            <Time value={entry.at} as="exact" />
          </Text>
          {at > 0 && <Text size="xs">{sinceText(steps[at - 1]?.entry, entry)}</Text>}
        </Group>
        <Details entry={entry} />
        {attempts.length > 0 && <Attempts of={entry} attempts={attempts} />}
      </Timeline.Item>
    ))}
  </Timeline>
);

/** The attempts to deliver one event, below it. */
const Attempts = ({ of, attempts }: { of: TimelineEntry; attempts: TimelineEntry[] }) => (
  <List size="sm" mt={4} aria-label={`Attempts to deliver ${of.event ?? 'the event'}`}>
    {attempts.map((attempt) => (
      <List.Item key={`${attempt.number}/${attempt.at}`}>
        <Text span size="sm" className={colorOf(attempt) === 'red' ? 'refused' : undefined}>
          {titleOf(attempt)}
        </Text>{' '}
        <Text span size="xs">
          {[
            attempt.duration_ms !== undefined && `in ${attempt.duration_ms} ms`,
            sinceText(of, attempt),
          ]
            .filter(Boolean)
            .join(', ')}
        </Text>
      </List.Item>
    ))}
  </List>
);

const TITLES: Record<string, (entry: TimelineEntry) => string> = {
  accepted: () => 'Your request was accepted',
  upstream: ({ http_status }) => `The upstream answered HTTP ${http_status}`,
  status: ({ status, superseded, participant }) =>
    `Status ${status}${participant ? ` of ${participant}` : ''}${superseded ? ', after a higher one' : ''}`,
  event: ({ event, delivery_status }) => `Event ${event}: ${delivery_status}`,
  attempt: ({ number, error, http_status }) =>
    `Attempt ${number}: ${error ?? `your receiver answered HTTP ${http_status}`}`,
};

const titleOf = (entry: TimelineEntry): string => TITLES[entry.type]?.(entry) ?? entry.type;

const FAILED = new Set(['failed', 'dropped']);

function colorOf({ status, delivery_status, error, http_status, type }: TimelineEntry): string {
  const refused = type === 'attempt' && http_status !== undefined && http_status >= 300;
  if (refused || error || FAILED.has(status ?? '') || FAILED.has(delivery_status ?? '')) {
    return 'red';
  }
  return type === 'event' || type === 'attempt' ? 'blue' : 'teal';
}

const SECOND_MS = 1_000;
const amounts = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });

function sinceText(before: TimelineEntry | undefined, { at }: TimelineEntry): string {
  const after_ms = Date.parse(at) - Date.parse(before?.at ?? at);
  if (after_ms <= 0) return '';
  return after_ms < SECOND_MS
    ? `${after_ms} ms later`
    : `${amounts.format(after_ms / SECOND_MS)} s later`;
}

function Details({ entry }: { entry: TimelineEntry }) {
  const { duration_ms, source, error_code, request_id, idempotency_key, event_id } = entry;
  const texts = [
    duration_ms !== undefined && `in ${duration_ms} ms`,
    source === 'message_history' && 'read from the upstream’s message history',
    error_code && `code ${error_code}`,
    idempotency_key && `Idempotency-Key ${idempotency_key}`,
  ].filter(Boolean);
  const id = entry.type === 'event' ? event_id : request_id;
  return (
    <>
      {texts.length > 0 && <Text size="sm">{texts.join(', ')}</Text>}
      {id && (
        <Group gap={4} wrap="nowrap">
          <Code className="breaks">{id}</Code>
          <Copy
            text={id}
            label={entry.type === 'event' ? 'Copy the event ID' : 'Copy the request ID'}
          />
        </Group>
      )}
      {entry.trace_id && entry.type === 'status' && (
        <Group gap={4} wrap="nowrap">
          <Text size="xs">Trace</Text>
          <Code className="breaks">{entry.trace_id}</Code>
          <Copy text={entry.trace_id} label="Copy the trace ID" />
        </Group>
      )}
    </>
  );
}
