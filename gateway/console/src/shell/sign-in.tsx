import { Alert, Anchor, Button, Divider, PasswordInput, Stack, Text, Title } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState, type ReactNode, type RefObject } from 'react';
import { call, rememberCsrfToken, type ApiFailure } from '../api/client';
import { canUsePasskeys, logInWithPasskey } from '../api/passkeys';
import { logInQuery, sessionQuery } from '../api/queries';
import type { Session } from '../api/types';
import icon from '../icon.svg';
import { Failure, Form, FrontPage, WorkButton } from '../parts/layout';

const WRONG_KEY = new Set(['INVALID_PARTNER_KEY', 'MISSING_FIELDS', 'INVALID_FIELD']);

/** Below the console's base address. */
const ISSUER_PATH = 'api/session/issuer';

/** Why a log-in with the issuer brought the browser back here. */
const REFUSALS: Readonly<Record<string, string>> = {
  unknown_person:
    'Nobody has signed in to this console with this account yet. The first time, open the link of your invitation, or check which account you used.',
  other_address:
    'The invitation is for another address than the one that you signed in with, or that one is not verified.',
  not_accepted: 'The sign-in was cancelled, took too long, or was not accepted. Try again.',
  unavailable: 'The sign-in service cannot be reached at the moment. Try again in a minute.',
};

const refusalOf = (): string | undefined => {
  const reason = new URL(location.href).searchParams.get('sign_in');
  return reason === null ? undefined : (REFUSALS[reason] ?? REFUSALS['not_accepted']);
};

interface LogInFormProps {
  /** A person has a passkey or the issuer, the holder of the partner key types it. */
  as: 'anyone' | 'person' | 'key';
  /** The person signs in at the issuer again. */
  fresh?: boolean;
  onEnter: (session: Session) => void;
  /** Above the ways to sign in. */
  children: ReactNode;
}

/**
 * The ways to sign in. The partner key is typed once: the answer sets the session's cookie, and the
 * key is not kept.
 */
export function LogInForm({ as, fresh = false, onEnter, children }: LogInFormProps) {
  const input = useRef<HTMLInputElement>(null);
  const ways = useQuery(logInQuery).data;
  const has_passkeys = as !== 'key' && (ways?.passkeys ?? false) && canUsePasskeys();
  const issuer = as === 'key' ? null : (ways?.issuer ?? null);
  const onSuccess = (session: Session): void => {
    rememberCsrfToken(session.csrf_token);
    onEnter(session);
  };
  const passkey = useMutation({ mutationFn: logInWithPasskey, onSuccess });
  const open = useMutation({
    mutationFn: (partner_key: string) =>
      call<Session>('POST', '/session', { body: { partner_key } }),
    onSuccess,
    onError: () => input.current?.focus(),
  });
  useEffect(() => input.current?.focus(), []);
  return (
    <Form onSubmit={() => open.mutate(input.current?.value.trim() ?? '')}>
      <Stack>
        {children}
        {has_passkeys && <WorkButton work={passkey}>Use a passkey</WorkButton>}
        {passkey.error && <Failure error={passkey.error} title="You are not signed in" />}
        {issuer && (
          <Button
            component="a"
            href={fresh ? `${ISSUER_PATH}?fresh=1` : ISSUER_PATH}
            variant={has_passkeys ? 'default' : 'filled'}
          >
            Use {issuer}
          </Button>
        )}
        {(has_passkeys || issuer) && as === 'anyone' && <Divider label="or" />}
        {as !== 'person' && (
          <KeyField input={input} open={open} is_first={!has_passkeys && !issuer} />
        )}
      </Stack>
    </Form>
  );
}

interface KeyFieldProps {
  input: RefObject<HTMLInputElement | null>;
  open: { error: Error | null; isPending: boolean };
  is_first: boolean;
}

function KeyField({ input, open, is_first }: KeyFieldProps) {
  const wrong = open.error && WRONG_KEY.has((open.error as ApiFailure).code);
  return (
    <>
      <PasswordInput
        ref={input}
        label="Partner key"
        name="partner_key"
        autoComplete="current-password"
        spellCheck={false}
        required
        error={wrong ? 'This is not a valid partner key. Check that you copied all of it.' : null}
        visibilityToggleButtonProps={{ 'aria-label': 'Show the key' }}
      />
      {open.error && !wrong && <Failure error={open.error} title="You are not signed in" />}
      <Button type="submit" variant={is_first ? 'filled' : 'default'} loading={open.isPending}>
        Sign in
      </Button>
    </>
  );
}

export function SignIn() {
  const queries = useQueryClient();
  const ways = useQuery(logInQuery).data;
  const has_people = ((ways?.passkeys ?? false) && canUsePasskeys()) || ways?.issuer;
  const [refusal] = useState(refusalOf);
  return (
    <FrontPage title="Sign in">
      <LogInForm
        as="anyone"
        onEnter={(session) => queries.setQueryData(sessionQuery.queryKey, session)}
      >
        <img src={icon} alt="" width={40} height={40} />
        <div>
          <Title order={1} size="h3">
            Sign in to the console
          </Title>
          <Text size="sm" c="dimmed" mt={4}>
            {has_people
              ? 'As a person who was invited, or with the partner key that your provider gave you.'
              : 'With the partner key that your provider gave you.'}
          </Text>
        </div>
        {refusal && (
          <Alert color="red" variant="light" role="alert" title="You are not signed in">
            <Text size="sm">{refusal}</Text>
          </Alert>
        )}
      </LogInForm>
      <Alert variant="light" color="gray" p="xs">
        <Text size="xs">
          The session lasts 8 hours, or 30 minutes without use. The key itself is not stored. You
          build an integration? Read the <Anchor href="../docs">reference</Anchor>.
        </Text>
      </Alert>
    </FrontPage>
  );
}
