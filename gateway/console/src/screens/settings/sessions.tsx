// Open sessions: a person's own; an owner and the partner key see those of everyone.
import { Group, Stack, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { call, signOut } from '../../api/client';
import { sessionsQuery, useChange } from '../../api/queries';
import type { OpenSession } from '../../api/types';
import { Card, Failure, Loaded, WorkButton } from '../../parts/layout';
import { Time } from '../../parts/values';

export function Sessions() {
  const query = useQuery(sessionsQuery);
  const endAll = useMutation({ mutationFn: () => signOut({ everywhere: true }) });
  return (
    <Card
      title="Sessions"
      aside={
        <WorkButton size="xs" variant="default" work={endAll}>
          Sign out everywhere
        </WorkButton>
      }
    >
      {endAll.error && <Failure error={endAll.error} title="The sessions were not ended" />}
      <Loaded query={query} what="the sessions" lines={2}>
        {(sessions) => (
          <Stack gap="xs">
            {sessions.map((session) => (
              <Session key={session.session_id ?? session.created_at} session={session} />
            ))}
          </Stack>
        )}
      </Loaded>
    </Card>
  );
}

const CHANGED = [sessionsQuery];

function Session({ session }: { session: OpenSession }) {
  const { session_id, current, created_at } = session;
  const who = session.email ?? 'Partner key';
  const end = useChange(CHANGED, () => call('DELETE', `/sessions/${session_id}`));
  return (
    <>
      <Group gap="lg">
        <Text size="sm" fw={current ? 600 : 400}>
          {who}, signed in <Time value={created_at} />
          {current && ' (this browser)'}
        </Text>
        <Text size="sm" c="dimmed">
          used <Time value={session.used_at} as="ago" />, ends <Time value={session.expires_at} />
        </Text>
        {session_id !== null && !current && (
          <WorkButton
            size="compact-xs"
            variant="default"
            work={end}
            aria-label={`End the session of ${who}`}
          >
            End
          </WorkButton>
        )}
      </Group>
      {end.error && <Failure error={end.error} title="The session was not ended" />}
    </>
  );
}
