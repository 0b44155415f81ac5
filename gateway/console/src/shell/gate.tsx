// Shows the screens to a session, the sign-in form without one, and the page of an invitation.
import { Center, Loader } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { useState } from 'react';
import { sessionQuery } from '../api/queries';
import { Failure } from '../parts/loaded';
import { createConsoleRouter } from '../router';
import { Invitation } from './invitation';
import { LogInAgain } from './log-in-again';
import { SignIn } from './sign-in';

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
