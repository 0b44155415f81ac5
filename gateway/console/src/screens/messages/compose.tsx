// Sends a test message and follows it.
import { Alert, Button, Group, SegmentedControl, Stack, Textarea, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../api/client';
import type { Client, Template } from '../../api/types';
import { useFilters } from '../../parts/filters';
import { Card, Failure, Page } from '../../parts/layout';
import { NextMessage } from '../../parts/next-message';
import { NumberSelect, WithNumber } from '../../parts/numbers';
import { TemplateChoice, TemplatePreview, TextPreview, Variables } from '../../parts/templates';
import { Copy } from '../../parts/values';
import { messageComponents, variablesOf } from '../../template';
import { MessageSteps } from './steps';

interface Sent {
  message_id: string;
}

export const Screen = () => (
  <Page title="Send a test message" description="To one of your own phones; then follow it.">
    <WithNumber>{(client) => <Compose key={client.phone_number_id} client={client} />}</WithNumber>
  </Page>
);

function Compose({ client }: { client: Client }) {
  const [kind, setKind] = useState<'text' | 'template'>('text');
  const [{ to_contact }] = useFilters();
  const [to, setTo] = useState(to_contact ?? '');
  const send = useMutation({
    mutationFn: ({ path, body }: { path: string; body: object }) =>
      call<Sent>('POST', path, {
        number: client,
        body: { to: to.trim(), ...body },
        idempotency_key: crypto.randomUUID(),
      }),
  });
  const Form = kind === 'text' ? TextForm : TemplateForm;
  return (
    <Card title="Test message">
      <Stack>
        <NumberSelect label="From" />
        <TextInput
          label="To"
          description="A phone number with its country code, or a business-scoped user ID."
          placeholder="15550100777"
          maw={360}
          value={to}
          onChange={(event) => setTo(event.currentTarget.value)}
        />
        <SegmentedControl
          aria-label="Kind of message"
          w="fit-content"
          value={kind}
          onChange={(value) => setKind(value as 'text' | 'template')}
          data={[
            { value: 'text', label: 'Text' },
            { value: 'template', label: 'Template' },
          ]}
        />
        <Form
          client={client}
          to={to}
          pending={send.isPending}
          onSend={(path, body) => send.mutate({ path, body })}
        />
        {send.error && <Failure error={send.error} title="The message was not sent" />}
        {send.data && (
          <Alert role="status" color="green" title="The message was sent">
            <Group gap={4}>
              {send.data.message_id}
              <Copy text={send.data.message_id} label="Copy the message ID" />
            </Group>
            <MessageSteps
              key={send.data.message_id}
              message_id={send.data.message_id}
              phone_number_id={client.phone_number_id}
            />
          </Alert>
        )}
      </Stack>
    </Card>
  );
}

interface FormProps {
  client: Client;
  to: string;
  pending: boolean;
  onSend: (path: string, body: object) => void;
}

function TextForm({ client, to, pending, onSend }: FormProps) {
  const [text, setText] = useState('Hello');
  return (
    <Group align="flex-start" gap="xl">
      <Stack flex="1 1 280px">
        <Textarea
          label="Text"
          description="Reaches people who wrote to the number in the last 24 hours."
          autosize
          minRows={3}
          maxLength={4096}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <Button
          w="fit-content"
          loading={pending}
          disabled={to.trim() === '' || text.trim() === ''}
          onClick={() => onSend('/v1/messages/send', { text })}
        >
          Send
        </Button>
        {text.trim() !== '' && <NextMessage client={client} to={to} kind="text" body={{ text }} />}
      </Stack>
      <TextPreview text={text} />
    </Group>
  );
}

const TemplateForm = (props: FormProps) => (
  <TemplateChoice client={props.client}>
    {(template) => template && <TemplateValues key={template.id} template={template} {...props} />}
  </TemplateChoice>
);

function TemplateValues(props: FormProps & { template: Template }) {
  const { template, client, to, pending, onSend } = props;
  const [values, setValues] = useState<Record<string, string>>({});
  const variables = variablesOf(template.components);
  const complete = variables.every(({ key }) => (values[key] ?? '').trim() !== '');
  const components = messageComponents(template.components, (key) => values[key] ?? '');
  const { name, language } = template;
  const body = { template: { name, language, components } };
  return (
    <Group align="flex-start" gap="xl">
      <Stack flex="1 1 280px">
        <Variables variables={variables} values={values} onChange={setValues} />
        <Button
          w="fit-content"
          loading={pending}
          disabled={to.trim() === '' || !complete}
          onClick={() => onSend('/v1/messages/template', body)}
        >
          Send
        </Button>
        {complete && <NextMessage client={client} to={to} kind="template" body={body} />}
      </Stack>
      <TemplatePreview components={template.components} values={values} />
    </Group>
  );
}
