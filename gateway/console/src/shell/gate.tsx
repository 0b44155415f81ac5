// Shows the screens to a session, the sign-in form without one, and the page of an invitation. The
// ways to log in are shown again when a change needs a fresh log-in; the change is made after it.
import { Center, Loader, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { whenLogInIsOld } from '../api/client';
import { sessionQuery } from '../api/queries';
import type { Session } from '../api/types';
import { Dialog } from '../parts/dialogs';
import { Failure } from '../parts/layout';
import { createConsoleRouter } from '../router';
import { Invitation } from './invitation';
import { LogInForm, SignIn } from './sign-in';

export function Gate() {
  const [invited, setInvited] = useState(() => location.pathname.endsWith('/invitation'));
  return invited ? <Invitation onDone={() => setInvited(false)} /> : <SignedIn />;
}

function SignedIn() {
  const { data: session, error, refetch } = useQuery(sessionQuery);
  if (error) {
    return (
      <Center component="main" p="lg" mih="100vh">
        <Failure error={error} title="The console could not start" retry={() => void refetch()} />
      </Center>
    );
  }
  if (session === undefined) {
    return (
      <Center component="main" mih="100vh">
        <Loader aria-label="Loading the console" />
      </Center>
    );
  }
  return session === null ? <SignIn /> : <Screens />;
}

function Screens() {
  const queries = useQueryClient();
  const [router] = useState(() => createConsoleRouter(queries));
  return (
    <>
      <RouterProvider router={router} />
      <LogInAgain />
    </>
  );
}

interface Asked {
  onEntered: () => void;
  onCancel: () => void;
}

function LogInAgain() {
  const queries = useQueryClient();
  const [asked, setAsked] = useState<Asked>();
  useEffect(() => {
    whenLogInIsOld((refusal) => {
      const entered = new Promise<void>((resolve, reject) => {
        setAsked({ onEntered: resolve, onCancel: () => reject(refusal) });
      });
      return entered.finally(() => setAsked(undefined));
    });
  }, []);
  if (!asked) return null;
  const before = queries.getQueryData(sessionQuery.queryKey);
  const enter = (session: Session): void => {
    // Another person or partner: the screens show what the one before may see.
    if (nameOf(session) !== nameOf(before)) return location.reload();
    queries.setQueryData(sessionQuery.queryKey, session);
    asked.onEntered();
  };
  return (
    <Dialog title="Sign in again" onClose={asked.onCancel}>
      <LogInForm as={before?.person ? 'person' : 'key'} fresh onEnter={enter}>
        <Text size="sm">
          This needs a log-in within the last five minutes. It protects you if this browser was left
          open.
        </Text>
      </LogInForm>
    </Dialog>
  );
}

const nameOf = (session: Session | null | undefined): string =>
  `${session?.partner_id} ${session?.person?.person_id}`;
