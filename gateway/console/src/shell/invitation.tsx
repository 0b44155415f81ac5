// An invitation to the console: the person creates a passkey, and is signed in.
import { Button, Loader, Stack, Text, TextInput, Title } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call, rememberCsrfToken } from '../api/client';
import { acceptInvitation, canUsePasskeys } from '../api/passkeys';
import { logInQuery, sessionQuery } from '../api/queries';
import type { Invitation as Invited } from '../api/types';
import icon from '../icon.svg';
import { Failure, Form, FrontPage, WorkButton } from '../parts/layout';
import { Time } from '../parts/values';

const NAME_MAX = 100;

/** The token is in the fragment, which browsers send to no server. */
const tokenOf = (): string => location.hash.slice(1);

export function Invitation({ onDone }: { onDone: () => void }) {
  const [token] = useState(tokenOf);
  const query = useQuery({
    queryKey: ['invitation', token],
    queryFn: () => call<Invited>('POST', '/invitation', { body: { token } }),
    retry: false,
    gcTime: 0,
  });
  const leave = (): void => {
    history.replaceState(null, '', document.baseURI);
    onDone();
  };
  return (
    <FrontPage title="Invitation">
      <img src={icon} alt="" width={40} height={40} />
      {query.isPending && <Loader aria-label="Loading the invitation" />}
      {query.error && (
        <>
          <Title order={1} size="h3">
            This invitation does not work
          </Title>
          <Failure error={query.error} title="The invitation was not accepted" />
          <Button variant="default" onClick={leave}>
            Go to the sign-in
          </Button>
        </>
      )}
      {query.data && <Accept invited={query.data} token={token} onDone={leave} />}
    </FrontPage>
  );
}

interface AcceptProps {
  invited: Invited;
  token: string;
  onDone: () => void;
}

function Accept({ invited, token, onDone }: AcceptProps) {
  const queries = useQueryClient();
  const issuer = useQuery(logInQuery).data?.issuer ?? null;
  const [name, setName] = useState('My device');
  const accept = useMutation({
    mutationFn: () => acceptInvitation(token, name),
    onSuccess(session) {
      rememberCsrfToken(session.csrf_token);
      queries.clear();
      queries.setQueryData(sessionQuery.queryKey, session);
      onDone();
    },
  });
  const visit = useMutation({
    mutationFn: () => call<{ url: string }>('POST', '/invitation/issuer', { body: { token } }),
    onSuccess: ({ url }) => location.assign(url),
  });
  return (
    <Form onSubmit={() => accept.mutate()}>
      <Stack>
        <div>
          <Title order={1} size="h3">
            Join {invited.partner_name}
          </Title>
          <Text size="sm" c="dimmed" mt={4}>
            You are invited to the console as {invited.role}, with the address {invited.email}. The
            invitation ends <Time value={invited.expires_at} />.
          </Text>
        </div>
        {canUsePasskeys() ? (
          <>
            <Text size="sm">
              You sign in with a passkey: your device asks for your fingerprint, your face or its
              code, and there is no password.
            </Text>
            <TextInput
              label="Name of the passkey"
              description="The device or the program that keeps it"
              maxLength={NAME_MAX}
              value={name}
              onChange={(event) => setName(event.currentTarget.value)}
            />
            {accept.error && <Failure error={accept.error} title="You are not signed in" />}
            <Button type="submit" loading={accept.isPending} disabled={name.trim() === ''}>
              Create a passkey
            </Button>
          </>
        ) : (
          <Text size="sm">
            This browser has no passkeys. Open the link in a current browser, over HTTPS.
          </Text>
        )}
        {issuer && (
          <WorkButton variant="default" work={visit}>
            Use {issuer} instead
          </WorkButton>
        )}
        {visit.error && <Failure error={visit.error} title="You are not signed in" />}
      </Stack>
    </Form>
  );
}
