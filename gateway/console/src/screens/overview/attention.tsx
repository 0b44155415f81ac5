// What needs attention: one list of problems and notices, the most urgent first.
import { Alert, Anchor, Button, Group, List, Skeleton, Stack, Text } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import {
  billingQuery,
  clientsQuery,
  failedEventsQuery,
  noticesQuery,
  peopleQuery,
  sessionQuery,
  settingsQuery,
  useMay,
} from '../../api/queries';
import { attentionOf, type Attention } from '../../attention';
import {
  keepStates,
  listNotices,
  readStates,
  SCREENS,
  stateOf,
  type ListedNotice,
  type NoticeState,
  type NoticeStates,
} from '../../notices';
import { AllWell, Card, FailuresOf, Hint, TextLink } from '../../parts/layout';
import { State } from '../../parts/values';
import { dayOf } from '../../period';
import type { Search } from '../../search';
import { placeAt } from '../../shell/places';

/** What needs attention. Known once each part has been read, or its first read has failed. */
export function useAttention() {
  const may = useMay();
  const settings = useQuery(settingsQuery);
  const clients = useQuery(clientsQuery);
  const billing = useQuery({ ...billingQuery, enabled: may('billing') });
  const announced = useQuery(noticesQuery);
  const people = useQuery({ ...peopleQuery, enabled: may('manage') });
  const failed = useInfiniteQuery(failedEventsQuery());
  const queries = [settings, clients, billing, announced, people, failed];
  const first = failed.data?.pages[0];
  const found = attentionOf({
    settings: settings.data,
    clients: clients.data,
    billing: billing.data,
    failed_events: first && (first.total ?? first.count),
    people: people.data,
  });
  const own = settings.data?.notices ?? [];
  return {
    found,
    notices: listNotices(own, announced.data ?? [], dayOf(new Date())),
    knows_notices: settings.data !== undefined && announced.data !== undefined,
    is_known: queries.every(({ isLoading, failureCount }) => !isLoading || failureCount > 0),
    failing: queries.filter(({ error }) => error !== null),
  };
}

export function NeedsAttention({ attention }: { attention: ReturnType<typeof useAttention> }) {
  const { found, notices, knows_notices, is_known, failing } = attention;
  const { states, change } = useNoticeStates(knows_notices ? notices : undefined);
  const heading = useRef<HTMLDivElement>(null);
  const open = notices.filter((notice) => stateOf(notice, states) === 'open');
  const onChange = (notice: ListedNotice, state: NoticeState): void => {
    change(notice, state);
    // The pressed button no longer exists: the keyboard focus stays in the list.
    heading.current?.focus();
  };
  return (
    <Card title="Needs attention">
      <Stack gap="xs" aria-live="polite" ref={heading} tabIndex={-1} className="attention">
        {!is_known && (
          <Skeleton
            height={120}
            role="status"
            aria-busy
            aria-label="Loading what needs attention"
          />
        )}
        {is_known && (
          <>
            {found.map((item) => (
              <AttentionItem key={item.id} item={item} />
            ))}
            {open.map((notice) => (
              <NoticeItem key={notice.id} notice={notice} onChange={onChange} />
            ))}
            {found.length + open.length + failing.length === 0 && (
              <AllWell>Everything works: nothing needs your attention.</AllWell>
            )}
          </>
        )}
        <FailuresOf queries={failing} what="a part of this list" />
        {is_known && <Handled notices={notices} states={states} onChange={onChange} />}
      </Stack>
    </Card>
  );
}

/** `notices` are all that exist; undefined while they are not known. */
function useNoticeStates(notices: readonly ListedNotice[] | undefined) {
  const partner_id = useQuery(sessionQuery).data?.partner_id ?? '';
  const [states, setStates] = useState<NoticeStates>(() => readStates(partner_id, localStorage));
  const change = ({ id }: ListedNotice, state: NoticeState): void => {
    const next = { ...states, [id]: state };
    setStates(next);
    keepStates(partner_id, { notices, states: next }, localStorage);
  };
  return { states, change };
}

interface ScreenLinkProps {
  to: Attention['to'];
  search?: Search;
  action: string;
}

/** A link to a screen, if the role includes it. */
function ScreenLink({ to, search = {}, action }: ScreenLinkProps) {
  const may = useMay();
  if (!may(placeAt(to)?.scope ?? null)) return null;
  return (
    <TextLink to={to} search={search} fw={600}>
      {action}
    </TextLink>
  );
}

const AttentionItem = ({ item }: { item: Attention }) => (
  <Alert variant="light" color={item.severe ? 'red' : 'yellow'} p="sm" title={item.title}>
    <Text size="sm">{item.text}</Text>
    <ScreenLink {...item} />
  </Alert>
);

interface NoticeProps {
  notice: ListedNotice;
  onChange: (notice: ListedNotice, state: NoticeState) => void;
}

const SEVERITIES = {
  info: { name: 'For your information', color: 'gray' },
  action_required: { name: 'Action required', color: 'yellow' },
  breaking: { name: 'Breaking change', color: 'red' },
} as const;

function NoticeItem({ notice, onChange }: NoticeProps) {
  const { id, severity, text, is_announced } = notice;
  const screen = SCREENS[id];
  const { name, color } = SEVERITIES[severity];
  const title = `${name}: ${notice.title}`;
  return (
    <Alert variant="light" color={color} p="sm" title={title} data-testid={id}>
      <Text size="sm" className="written">
        {text}
      </Text>
      <Group gap="md" mt={6}>
        {screen && <ScreenLink {...screen} />}
        {is_announced && (
          <Anchor href={`../changelog#${id}`} size="sm">
            Read it in the changelog
          </Anchor>
        )}
        {severity !== 'info' && (
          <Button size="compact-sm" variant="default" onClick={() => onChange(notice, 'done')}>
            Mark as done
          </Button>
        )}
        <Button size="compact-sm" variant="default" onClick={() => onChange(notice, 'dismissed')}>
          Dismiss
        </Button>
      </Group>
    </Alert>
  );
}

interface HandledProps {
  notices: readonly ListedNotice[];
  states: NoticeStates;
  onChange: NoticeProps['onChange'];
}

/** Notices that are done or dismissed can be opened again. */
function Handled({ notices, states, onChange }: HandledProps) {
  const handled = notices.filter((notice) => stateOf(notice, states) !== 'open');
  if (handled.length === 0) return null;
  return (
    <details>
      <summary>Handled notices ({handled.length})</summary>
      <List spacing="xs" listStyleType="none" mt="xs">
        {handled.map((notice) => (
          <List.Item key={notice.id}>
            <Group gap="xs">
              <State of={stateOf(notice, states)} />
              <Text size="sm">{notice.title}</Text>
              <Button size="compact-sm" variant="default" onClick={() => onChange(notice, 'open')}>
                Open again
              </Button>
            </Group>
            <Text size="sm" mt={4} className="written">
              {notice.text}
            </Text>
          </List.Item>
        ))}
      </List>
      <Hint mt="xs">This browser remembers what is done and dismissed.</Hint>
    </details>
  );
}
