// What broke: failures of the last days by cause, with a panel for each in which it is fixed,
// tested and retried.
import { Badge, Stack, Text } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { failedEventsQuery, failedMessagesQuery, failedRequestsQuery } from '../api/queries';
import { useOpened } from '../parts/filters';
import { AllWell, Card, Loaded, Page } from '../parts/layout';
import { countOf, dayBefore } from '../period';
import { CAUSES, keyOf, peopleOf, problemsOf, type Cause, type Problem } from '../problems';
import { ProblemPanel } from './problems/panel';

const DAYS = 7;
const REFRESH_MS = 10_000;

export function Screen() {
  const { opened, close } = useOpened();
  const { queries, problems, shown } = useProblems(opened);
  return (
    <Page
      title="What broke"
      description="Failed messages and calls of seven days, and events that your receiver has not accepted."
    >
      {queries.map(({ what, query }) => (
        <Loaded<unknown> key={what} query={query} what={what} lines={2}>
          {() => null}
        </Loaded>
      ))}
      {problems && <Causes problems={problems} />}
      {shown && <ProblemPanel problem={shown} onClose={close} />}
    </Page>
  );
}

/** `shown`: the open group, as it was last if a retry has emptied it. */
function useProblems(open: string | undefined) {
  const [from] = useState(() => `${dayBefore(Date.now(), DAYS)}T00:00:00Z`);
  const messages = useQuery({ ...failedMessagesQuery(from), refetchInterval: REFRESH_MS });
  const events = useInfiniteQuery({ ...failedEventsQuery(), refetchInterval: REFRESH_MS });
  const requests = useQuery({ ...failedRequestsQuery, refetchInterval: REFRESH_MS });
  const problems =
    messages.data &&
    events.data &&
    requests.data &&
    problemsOf({
      messages: messages.data,
      events: events.data.pages.flatMap((page) => page.events),
      requests: requests.data.filter(({ at }) => at >= from),
    });
  const [last, setLast] = useState<Problem>();
  const found = problems?.find((problem) => keyOf(problem) === open);
  if (found && open !== undefined && (!last || keyOf(last) !== open)) setLast(found);
  const shown =
    open === undefined ? undefined : (found ?? (last && keyOf(last) === open ? last : undefined));
  return {
    problems,
    shown,
    queries: [
      { what: 'the failed messages', query: messages },
      { what: 'the failed deliveries', query: events },
      { what: 'the calls', query: requests },
    ],
  };
}

function Causes({ problems }: { problems: Problem[] }) {
  if (problems.length === 0) {
    return (
      <Card>
        <AllWell>Nothing broke.</AllWell>
      </Card>
    );
  }
  const names = Object.keys(CAUSES) as Cause[];
  return (
    <Stack gap="md">
      {names.map((cause) => (
        <OneCause
          key={cause}
          cause={cause}
          problems={problems.filter((problem) => problem.cause === cause)}
        />
      ))}
    </Stack>
  );
}

function OneCause({ cause, problems }: { cause: Cause; problems: Problem[] }) {
  const { setOpened } = useOpened();
  if (problems.length === 0) return null;
  const { title, text } = CAUSES[cause];
  return (
    <Card title={title}>
      <Text size="sm" mb="sm">
        {text}
      </Text>
      <ul className="problems" aria-label={title}>
        {problems.map((problem) => (
          <li key={keyOf(problem)}>
            <button type="button" className="plain" onClick={() => setOpened(keyOf(problem))}>
              {problem.code}
            </button>
            <Badge variant="default" tt="none">
              {countOf(problem.items.length)}
            </Badge>
            <Text size="sm">{problem.meaning}</Text>
            <Text size="xs">{whoOf(problem)}</Text>
          </li>
        ))}
      </ul>
    </Card>
  );
}

const NAMED_MAX = 2;

/** `15550100777, 15550100888 and 3 more people` */
function whoOf(problem: Problem): string {
  const people = peopleOf(problem);
  const named = people.slice(0, NAMED_MAX).join(', ');
  const more = people.length - NAMED_MAX;
  if (people.length === 0) return '';
  return more > 0
    ? `${named} and ${more === 1 ? '1 more person' : `${countOf(more)} more people`}`
    : named;
}
