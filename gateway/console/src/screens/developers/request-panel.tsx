// One call of the request log: the facts, why it failed, and both bodies.
import { Alert, Anchor, Code, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { keysQuery, requestQuery, useMay } from '../../api/queries';
import type { LoggedRequest } from '../../api/types';
import { Panel, type Closing } from '../../parts/dialogs';
import { Facts, Loaded, TextLink } from '../../parts/layout';
import { Id, Json, Time } from '../../parts/values';
import { adviceOf } from '../../reasons';

const colourOf = (status: number): string =>
  status >= 500 ? 'red' : status >= 400 ? 'orange' : 'green';

export const Outcome = ({ of: { status, code } }: { of: LoggedRequest }) => (
  <>
    <Code color={`var(--mantine-color-${colourOf(status)}-light)`}>{status}</Code>
    {code && <Text size="xs">{code}</Text>}
  </>
);

export const tookOf = ({ duration_ms }: LoggedRequest): string =>
  `${duration_ms < 10 ? duration_ms.toFixed(1) : Math.round(duration_ms)} ms`;

/** `listed` is the call, if the list has it. */
type RequestPanelProps = Closing<{ id: string; listed: LoggedRequest | undefined }>;

export const RequestPanel = ({ id, listed, onClose }: RequestPanelProps) => (
  <Panel title="Request" size="xl" onClose={onClose}>
    <Loaded
      query={useQuery({ ...requestQuery(id), initialData: listed && [listed] })}
      what="the request"
    >
      {([request]) =>
        request ? (
          <Details of={request} />
        ) : (
          <Text size="sm">The log does not have this request: it keeps 30 days.</Text>
        )
      }
    </Loaded>
  </Panel>
);

function Details({ of }: { of: LoggedRequest }) {
  return (
    <Stack gap="md">
      <Group gap="xs">
        <Text ff="monospace" fw={600} size="sm">
          {of.method} {of.path}
        </Text>
        <Outcome of={of} />
      </Group>
      <Failed of={of} />
      <Facts
        of={[
          ['Time', <Time value={of.at} as="exact" />],
          ['Duration', tookOf(of)],
          ['Request ID', <Id of="request" text={of.request_id} />],
          ['Key', <KeyName id={of.key_id} />],
          ['Business account', of.waba_id],
          ['Number ID', of.phone_number_id],
          ['Message', messageLink(of.answer_body)],
          ['Ignored', of.ignored && `${of.ignored}: the endpoint does not know these keys`],
        ]}
      />
      <Body title="Path and query" of={of.parameters} />
      <Body title="Request body" of={of.request_body} />
      <Body title="Answer" of={of.answer_body} />
    </Stack>
  );
}

/** What happened to the message that the call sent. */
function messageLink(of: string | null) {
  const { message_id } = JSON.parse(of ?? '{}') as { message_id?: string };
  return message_id?.startsWith('wamid.') ? (
    <TextLink to="/messages" search={{ open: message_id }}>
      {message_id}
    </TextLink>
  ) : null;
}

/** The upstream's code explains more than ours. */
function Failed({ of: { code, upstream_code, ...of } }: { of: LoggedRequest }) {
  if (!code) return null;
  const { meaning, action } =
    (upstream_code === null ? undefined : adviceOf(String(upstream_code))) ?? of;
  return (
    <Alert color={colourOf(of.status)} variant="light" title={meaning ?? code}>
      <Text size="sm">
        {action}{' '}
        <Anchor href={`../docs/errors#${code}`} size="sm">
          Read about the code
        </Anchor>
      </Text>
      {upstream_code !== null && <Text size="sm">Upstream code {upstream_code}</Text>}
    </Alert>
  );
}

/** Those who may not see the keys get the ID of the key. */
function KeyName({ id }: { id: string | null }) {
  const may = useMay();
  const { data: keys = [] } = useQuery({ ...keysQuery, enabled: may('manage') });
  if (id === null) return 'Partner key or sign-up link';
  const name = keys.find(({ key_id }) => key_id === id)?.name;
  return name === undefined ? id : `${name} (${id})`;
}

function Body({ title, of }: { title: string; of: string | null }) {
  if (of === null) return null;
  return (
    <Stack gap={4}>
      <Text size="sm" fw={600}>
        {title}
      </Text>
      <Json value={JSON.parse(of)} label={`the ${title.toLowerCase()}`} />
    </Stack>
  );
}
