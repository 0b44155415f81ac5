import {
  Alert,
  Anchor,
  Button,
  Center,
  Paper,
  PasswordInput,
  Stack,
  Text,
  Title,
} from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { call, rememberCsrfToken, type ApiFailure } from '../api/client';
import { sessionQuery } from '../api/queries';
import type { Session } from '../api/types';
import icon from '../icon.svg';
import { Failure } from '../parts/failure';

const WRONG_KEY = new Set(['INVALID_PARTNER_KEY', 'MISSING_FIELDS', 'INVALID_FIELD']);

/** The partner key is typed once: the answer sets the session's cookie, and the key is not kept. */
export function SignIn() {
  const queries = useQueryClient();
  const input = useRef<HTMLInputElement>(null);
  const open = useMutation({
    mutationFn: (partner_key: string) =>
      call<Session>('POST', '/session', { body: { partner_key } }),
    onSuccess(session) {
      rememberCsrfToken(session.csrf_token);
      queries.setQueryData(sessionQuery.queryKey, session);
    },
    onError: () => input.current?.focus(),
  });
  useEffect(() => {
    document.title = 'Sign in · Console';
    input.current?.focus();
  }, []);
  const wrong = open.error && WRONG_KEY.has((open.error as ApiFailure).code);
  return (
    <Center component="main" mih="100vh" p="md">
      <Paper withBorder p="xl" w="100%" maw={420} radius="lg">
        <form
          onSubmit={(event) => {
            event.preventDefault();
            open.mutate(input.current?.value.trim() ?? '');
          }}
        >
          <Stack>
            <img src={icon} alt="" width={40} height={40} />
            <div>
              <Title order={1} size="h3">
                Sign in to the console
              </Title>
              <Text size="sm" c="dimmed" mt={4}>
                With the partner key that your provider gave you.
              </Text>
            </div>
            <PasswordInput
              ref={input}
              label="Partner key"
              name="partner_key"
              autoComplete="current-password"
              spellCheck={false}
              required
              error={
                wrong ? 'This is not a valid partner key. Check that you copied all of it.' : null
              }
              visibilityToggleButtonProps={{ 'aria-label': 'Show the key' }}
            />
            {open.error && !wrong && <Failure error={open.error} title="You are not signed in" />}
            <Button type="submit" loading={open.isPending}>
              Sign in
            </Button>
            <Alert variant="light" color="gray" p="xs">
              <Text size="xs">
                The session lasts 8 hours, or 30 minutes without use. The key itself is not stored.
                You build an integration? Read the <Anchor href="../docs">reference</Anchor>.
              </Text>
            </Alert>
          </Stack>
        </form>
      </Paper>
    </Center>
  );
}
