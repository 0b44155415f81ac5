// What needs attention: one list of problems and notices, the most urgent first.
import { Alert, Anchor, Button, Group, List, Skeleton, Stack, Text } from '@mantine/core';
import { CheckCircledIcon } from '@radix-ui/react-icons';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useRef, useState, type ReactNode } from 'react';
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
  screenOf,
  stateOf,
  type ListedNotice,
  type NoticeState,
  type NoticeStates,
} from '../../notices';
import { Card } from '../../parts/card';
import { Loaded } from '../../parts/loaded';
import { State } from '../../parts/state';
import { dayOf } from '../../period';
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
              <Group gap="xs" wrap="nowrap">
                <CheckCircledIcon aria-hidden color="var(--mantine-color-green-text)" />
                <Text size="sm">Everything works: nothing needs your attention.</Text>
              </Group>
            )}
          </>
        )}
        {failing.map((query, index) => (
          <Loaded key={index} query={query as never} what="a part of this list">
            {() => null}
          </Loaded>
        ))}
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

/** A link to a screen that the role includes. */
const IfMayOpen = ({ to, children }: { to: string; children: ReactNode }) => {
  const may = useMay();
  const scope = placeAt(to)?.scope ?? null;
  return scope === null || may(scope) ? children : null;
};

const AttentionItem = ({ item }: { item: Attention }) => (
  <Alert variant="light" color={item.severe ? 'red' : 'yellow'} p="sm" title={item.title}>
    <Text size="sm">{item.text}</Text>
    <IfMayOpen to={item.to}>
      <Anchor
        component={Link}
        to={item.to}
        search={(item.search ?? {}) as never}
        size="sm"
        fw={600}
      >
        {item.action}
      </Anchor>
    </IfMayOpen>
  </Alert>
);

interface NoticeProps {
  notice: ListedNotice;
  onChange: (notice: ListedNotice, state: NoticeState) => void;
}

const TITLES = {
  info: 'For your information',
  action_required: 'Action required',
  breaking: 'Breaking change',
} as const;
const COLOURS = { info: 'gray', action_required: 'yellow', breaking: 'red' } as const;

function NoticeItem({ notice, onChange }: NoticeProps) {
  const { id, severity, text, is_announced } = notice;
  const screen = screenOf(notice);
  const title = `${TITLES[severity]}: ${notice.title}`;
  return (
    <Alert variant="light" color={COLOURS[severity]} p="sm" title={title} data-testid={id}>
      <Text size="sm" className="written">
        {text}
      </Text>
      <Group gap="md" mt={6}>
        {screen && (
          <IfMayOpen to={screen.to}>
            <Anchor component={Link} to={screen.to} size="sm" fw={600}>
              {screen.action}
            </Anchor>
          </IfMayOpen>
        )}
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
      <Text size="xs" c="dimmed" mt="xs">
        This browser remembers what is done and dismissed.
      </Text>
    </details>
  );
}
