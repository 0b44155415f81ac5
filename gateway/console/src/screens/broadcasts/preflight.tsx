// Checks a broadcast before it is created: contacts that would not receive it, duration, cost. The
// last question before it is sent shows the figures again.
import { Alert, List, Stack, Text, Title } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { Work } from '../../api/queries';
import type { BroadcastCheck, CheckReason, Client } from '../../api/types';
import { Confirm, type Closing } from '../../parts/dialogs';
import { Facts, Hint, Loaded } from '../../parts/layout';
import { nameAndNumber } from '../../parts/numbers';
import { Time } from '../../parts/values';
import { countOf, durationOf, nounOf } from '../../period';

const OUTLOOKS = {
  yes: { color: 'green', title: 'It can be sent' },
  unknown: { color: 'yellow', title: 'It can probably be sent' },
  no: { color: 'red', title: 'It would not be delivered' },
} as const;

export const Preflight = ({ query }: { query: UseQueryResult<BroadcastCheck> }) => (
  <Stack gap="xs" data-testid="preflight">
    <Title order={2} size="h6">
      Before it is sent
    </Title>
    <Loaded query={query} what="the check" lines={3}>
      {(check) => <Result check={check} />}
    </Loaded>
  </Stack>
);

function Result({ check: { deliverable, reasons, broadcast } }: { check: BroadcastCheck }) {
  return (
    <>
      <Alert variant="light" role="status" {...OUTLOOKS[deliverable]}>
        {reasons.length === 0 ? (
          <Text size="sm">No problems were found.</Text>
        ) : (
          <List size="sm">
            {reasons.map((reason, at) => (
              <Reason key={at} reason={reason} />
            ))}
          </List>
        )}
      </Alert>
      {broadcast && <Figures broadcast={broadcast} />}
      <Hint>This is advice: nothing is refused because of it.</Hint>
    </>
  );
}

/** Examples beyond these are in the answer of the API. */
const EXAMPLES_MAX = 3;

function Reason({ reason: { contacts, examples, message, fix } }: { reason: CheckReason }) {
  const named = examples
    .slice(0, EXAMPLES_MAX)
    .map(({ recipient, field }) => recipient ?? field)
    .join(', ');
  return (
    <List.Item>
      {contacts !== null && `${nounOf(contacts, 'contact')}: `}
      {message}. {fix}
      {named !== '' && <Hint>For example {named}</Hint>}
    </List.Item>
  );
}

type Broadcast = NonNullable<BroadcastCheck['broadcast']>;

/** The figures that a check and a forecast have in common. */
type FiguresOf = Pick<
  Broadcast,
  'total' | 'failing' | 'duration_s' | 'starts_at' | 'ends_at' | 'cost'
>;

interface ForecastProps {
  /** Undefined or null while they are computed, and if that failed. */
  figures: FiguresOf | null | undefined;
  contacts: number;
}

export const Forecast = ({ figures, contacts }: ForecastProps) =>
  figures ? (
    <Figures broadcast={figures} />
  ) : (
    <Facts
      of={[
        ['Contacts', countOf(contacts)],
        ['Cost and duration', 'not known: the check has no result yet'],
      ]}
    />
  );

const Figures = ({ broadcast }: { broadcast: FiguresOf }) => (
  <Facts
    of={[
      ['Messages', countOf(broadcast.total - broadcast.failing)],
      ['Would fail', broadcast.failing > 0 ? countOf(broadcast.failing) : null],
      ['Duration', durationOf(broadcast.duration_s)],
      ['Starts', <Time value={broadcast.starts_at} as="exact" />],
      ['Last one leaves', <Time value={broadcast.ends_at} as="exact" />],
      ['Cost', broadcast.cost && costOf(broadcast.cost)],
    ]}
  />
);

function costOf({ min, max, currency, free, reason }: NonNullable<Broadcast['cost']>): string {
  if (min === null || max === null) return `not known: ${reason ?? ''}`;
  const sum = min === max ? max : `${min} to ${max}`;
  return `${sum} ${currency ?? ''}${free > 0 ? `, ${countOf(free)} messages are free` : ''}`.trim();
}

/** How a broadcast can be stopped, by its start. */
export const STOPPING = {
  now: 'It can be paused while it runs, and cancelled while it is paused.',
  later: 'It can be cancelled until it starts, and paused while it runs.',
} as const;

interface ConfirmSendProps {
  name: string;
  client: Client;
  contacts: number;
  start: keyof typeof STOPPING;
  check: BroadcastCheck | undefined;
  create: Work;
}

export function ConfirmSend(props: Closing<ConfirmSendProps>) {
  const { name, client, contacts, start, check, create, onClose } = props;
  const waits = check?.reasons.some(({ code }) => code === 'APPROVAL_REQUIRED') ?? false;
  const action = start === 'now' ? 'Send now' : 'Schedule';
  return (
    <Confirm
      title={`${start === 'now' ? 'Send' : 'Schedule'} ${name}?`}
      action={waits ? 'Ask for approval' : action}
      severe={false}
      work={create}
      onClose={onClose}
    >
      <Facts of={[['From', nameAndNumber(client)]]} />
      <Forecast figures={check?.broadcast} contacts={contacts} />
      <Text size="sm" mt="sm">
        {waits && 'Nothing is sent before another person approves it. '}
        {STOPPING[start]}
      </Text>
    </Confirm>
  );
}
