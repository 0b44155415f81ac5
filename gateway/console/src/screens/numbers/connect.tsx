// Creates a link to the hosted sign-up page, and follows the sign-up when it runs in a popup.
import { Alert, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { call } from '../../api/client';
import { clientsQuery } from '../../api/queries';
import { Dialog, focusOnMount, type Closing } from '../../parts/dialogs';
import { Failure, Form, Hint } from '../../parts/layout';
import { Copy } from '../../parts/values';

interface Link {
  connect_url: string;
  expires_in: number;
}

/** The message of the hosted page to the page that opened it. */
interface Outcome {
  type: 'SERVICE_CONNECT_SUCCESS' | 'SERVICE_CONNECT_CANCEL' | 'SERVICE_CONNECT_ERROR';
  state?: string | null;
  message?: string;
  code?: string;
  display_name?: string;
  waba_id?: string;
  phone_number_id?: string;
}

const POPUP = 'popup=yes,width=480,height=720';

function useOutcome(state: string): Outcome | null {
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const queries = useQueryClient();
  useEffect(() => {
    const listen = ({ origin, data }: MessageEvent<Outcome | null>): void => {
      if (origin !== location.origin || data?.state !== state) return;
      if (!String(data.type).startsWith('SERVICE_CONNECT_')) return;
      setOutcome(data);
      if (data.type === 'SERVICE_CONNECT_SUCCESS') {
        void queries.invalidateQueries({ queryKey: clientsQuery.queryKey });
      }
    };
    window.addEventListener('message', listen);
    return () => window.removeEventListener('message', listen);
  }, [state, queries]);
  return outcome;
}

export function ConnectNumber({ onClose }: Closing) {
  const [state] = useState(() => `console-${crypto.randomUUID()}`);
  const [name, setName] = useState('');
  const outcome = useOutcome(state);
  const make = useMutation({
    mutationFn: () =>
      call<Link>('POST', '/v1/connect/session', {
        body: { state, ...(name.trim() && { display_name: name.trim() }) },
      }),
  });
  return (
    <Dialog onClose={onClose} title="Connect a number" size="lg">
      <Stack>
        <Text size="sm">
          Your client signs in to the messaging platform and chooses a business account and a number
          of it. One sign-up connects one number, which stays in use in the business app.
        </Text>
        <Form onSubmit={() => make.mutate()}>
          <Stack>
            <TextInput
              label="Name of the client"
              description="For your own use. Without it the verified name of the number is taken."
              value={name}
              maxLength={200}
              onChange={(event) => setName(event.currentTarget.value)}
              data-autofocus
            />
            {!make.data && (
              <Button type="submit" loading={make.isPending} w="fit-content">
                Make a link
              </Button>
            )}
          </Stack>
        </Form>
        {make.error && <Failure error={make.error} title="No link was made" />}
        {make.data && <ConnectLink link={make.data} />}
        {outcome && <OutcomeNote outcome={outcome} />}
      </Stack>
    </Dialog>
  );
}

function ConnectLink({ link }: { link: Link }) {
  const [blocked, setBlocked] = useState(false);
  return (
    <Stack gap="xs" ref={focusOnMount} tabIndex={-1} className="focused-content">
      <Group gap="xs" wrap="nowrap" align="flex-end">
        <TextInput label="Link" readOnly value={link.connect_url} flex={1} />
        <Copy text={link.connect_url} label="Copy the link" />
      </Group>
      <Hint>
        Valid for {Math.round(link.expires_in / 60)} minutes, for one sign-up. Send it to your
        client, or open it here.
      </Hint>
      <Button
        variant="light"
        w="fit-content"
        onClick={() => setBlocked(window.open(link.connect_url, 'connect', POPUP) === null)}
      >
        Open the sign-up
      </Button>
      {blocked && (
        <Text size="sm" role="alert">
          The browser blocked the window. Allow pop-up windows for this page.
        </Text>
      )}
    </Stack>
  );
}

/** The sign-up names the business; the list of clients has the number. */
function Connected({ outcome }: { outcome: Outcome }) {
  const { display_name, waba_id, phone_number_id } = outcome;
  const { data: clients = [] } = useQuery(clientsQuery);
  const client = clients.find(
    (one) => one.waba_id === waba_id && one.phone_number_id === phone_number_id,
  );
  return (
    <Alert color="green" variant="light" role="status" title="The number is connected">
      {[display_name ?? waba_id, client && `+${client.phone_number}`].filter(Boolean).join(', ')}
    </Alert>
  );
}

function OutcomeNote({ outcome }: { outcome: Outcome }) {
  if (outcome.type === 'SERVICE_CONNECT_SUCCESS') return <Connected outcome={outcome} />;
  if (outcome.type === 'SERVICE_CONNECT_CANCEL') {
    return (
      <Alert color="gray" role="status" title="The sign-up was closed before it was finished">
        Nothing was connected. The link still works.
      </Alert>
    );
  }
  return (
    <Alert color="red" role="alert" title="The number was not connected">
      {outcome.message} {outcome.code && `(${outcome.code})`}
    </Alert>
  );
}
