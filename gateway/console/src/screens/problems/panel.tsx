// One group of failures: what it means, how to fix it, a test, and a retry.
import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { ApiFailure } from '../../api/client';
import { FAILED, useAttempt } from '../../api/queries';
import type { FailedEvent } from '../../api/types';
import { IfMay } from '../../parts/allowed';
import { Panel, type Closing } from '../../parts/dialogs';
import { ButtonLink, Facts, Failure, Section, TextLink, WorkButton } from '../../parts/layout';
import { Copy, Time } from '../../parts/values';
import { nounOf } from '../../period';
import { CAUSES, peopleOf, type Item, type Problem } from '../../problems';
import { retryOf } from '../events/drawer';
import { SendTestButton, SendTestOutcome, useSendTest } from '../events/send-test';

/** Items that are listed; the screens of messages and events have the others. */
const LISTED_MAX = 50;
/** Events that one press delivers again, one after the other. */
const RETRIED_MAX = 50;

export function ProblemPanel({ problem, onClose }: Closing<{ problem: Problem }>) {
  const { cause, code, meaning, action, items } = problem;
  return (
    <Panel onClose={onClose} title={`${CAUSES[cause].title}: ${code}`}>
      <Stack gap="lg">
        <Facts
          of={[
            ['What happened', meaning],
            ['What to do', action],
            ['Failures', nounOf(items.length, 'failure')],
            ['People', peopleOf(problem).length || null],
          ]}
        />
        {cause === 'receiver' ? <FixReceiver problem={problem} /> : <FixOther problem={problem} />}
        <Items items={items} />
      </Stack>
    </Panel>
  );
}

/** Fixes the address, tests it, and delivers the events of the group again. */
function FixReceiver({ problem: { items } }: { problem: Problem }) {
  const test = useSendTest();
  const events = items.flatMap(({ event }) => event ?? []).slice(0, RETRIED_MAX);
  const retry = useAttempt([FAILED], async () => {
    let accepted = 0;
    for (const event of events) {
      if (await isAccepted(event)) accepted += 1;
    }
    return { accepted, tried: events.length };
  });
  return (
    <Stack gap="xs">
      <Group gap="xs">
        <ButtonLink to="/settings/receivers/webhook">Check the webhook address</ButtonLink>
        <SendTestButton test={test} />
        <IfMay scope="manage">
          <WorkButton work={retry}>{`Deliver ${nounOf(events.length, 'event')} again`}</WorkButton>
        </IfMay>
      </Group>
      <SendTestOutcome test={test} />
      {retry.error && <Failure error={retry.error} title="The events were not all retried" />}
      {retry.data && (
        <Alert
          role="status"
          variant="light"
          color={retry.data.accepted === retry.data.tried ? 'green' : 'red'}
          title={`Your receiver accepted ${retry.data.accepted} of ${nounOf(retry.data.tried, 'event')}`}
        />
      )}
    </Stack>
  );
}

/** An event that no longer waits was accepted by an attempt of the gateway in the meantime. */
const isAccepted = (event: FailedEvent): Promise<boolean> =>
  retryOf(event).then(
    ({ status }) => status === 'delivered',
    (error: unknown) => {
      if (error instanceof ApiFailure && error.code === 'NOT_FOUND') return true;
      throw error;
    },
  );

/** Other causes: a link to write the message again, or to the explanation of a call's code. */
function FixOther({ problem: { code, items } }: { problem: Problem }) {
  const [first] = items;
  if (!first?.message_id) {
    return (
      <Group gap="xs">
        <Button variant="default" component="a" href={`../docs/errors#${code}`}>
          Read about the code
        </Button>
        <ButtonLink to="/developers" search={{ status: 'failed' }}>
          See the calls
        </ButtonLink>
      </Group>
    );
  }
  const search = {
    number: first.phone_number_id ?? undefined,
    to_contact: first.contact ?? undefined,
  };
  return (
    <Group gap="xs">
      <ButtonLink to="/messages/new" search={search}>
        Check and send again
      </ButtonLink>
      <ButtonLink to="/templates">See the templates</ButtonLink>
    </Group>
  );
}

const Items = ({ items }: { items: Item[] }) => (
  <Section title="Failures">
    <ul className="problem-items" aria-label="Failures">
      {items.slice(0, LISTED_MAX).map((item) => (
        <li key={item.id}>
          <About item={item} />
          <Text size="xs">
            <Time value={item.at} as="exact" />
            {item.attempts !== undefined && `, ${nounOf(item.attempts, 'attempt')}`}
          </Text>
          {item.trace_id && <Id name="Trace" id={item.trace_id} />}
          {item.request_id && <Id name="Request" id={item.request_id} />}
        </li>
      ))}
    </ul>
    {items.length > LISTED_MAX && (
      <Text size="sm">{`The latest ${LISTED_MAX} are listed. Messages and Events have all.`}</Text>
    )}
  </Section>
);

/** The person, the event and the message of a failure, with a link to what happened to it. */
function About({ item: { contact, what, message_id, phone_number_id, event } }: { item: Item }) {
  const label = contact ?? event?.event_id ?? what;
  return (
    <Text size="sm">
      {message_id ? (
        <TextLink
          to="/messages"
          search={{ open: message_id, number: phone_number_id ?? undefined }}
        >
          {label}
        </TextLink>
      ) : (
        label
      )}
      {label !== what && `, ${what}`}
    </Text>
  );
}

const Id = ({ name, id }: { name: string; id: string }) => (
  <Group gap={4} wrap="nowrap">
    <Text size="xs" ff="monospace" truncate title={id}>
      {`${name} ${id}`}
    </Text>
    <Copy text={id} label={`Copy the ${name.toLowerCase()} ID`} />
  </Group>
);
