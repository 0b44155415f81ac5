// Sends a test message and follows it.
import {
  Alert,
  Button,
  Group,
  SegmentedControl,
  Select,
  Stack,
  Textarea,
  TextInput,
} from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../api/client';
import { templatesQuery } from '../../api/queries';
import type { Client, Template } from '../../api/types';
import { Card } from '../../parts/card';
import { Copy } from '../../parts/copy';
import { Failure } from '../../parts/failure';
import { Loaded } from '../../parts/loaded';
import { NoNumber } from '../../parts/no-number';
import { NumberSelect, useNumber } from '../../parts/number-select';
import { Page } from '../../parts/page';
import { NextMessage } from '../../parts/next-message';
import { TemplatePreview, TextPreview } from '../../parts/preview';
import { useFilters } from '../../parts/search';
import { Variables } from '../../parts/variables';
import { messageComponents, variablesOf } from '../../template';
import { MessageSteps } from './steps';

interface Sent {
  message_id: string;
}

export function Screen() {
  const { client } = useNumber();
  return (
    <Page title="Send a test message" description="To one of your own phones; then follow it.">
      {client && <Compose key={client.phone_number_id} client={client} />}
      {!client && <NoNumber />}
    </Page>
  );
}

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

function TemplateForm(props: FormProps) {
  const query = useQuery(templatesQuery(props.client));
  const [name, setName] = useState<string | null>(null);
  return (
    <Loaded query={query} what="the templates">
      {(templates) => {
        const approved = templates.filter(({ status }) => status === 'APPROVED');
        const template = approved.find((one) => one.id === name);
        return (
          <Stack>
            <Select
              label="Template"
              maw={360}
              searchable
              placeholder="Choose an approved template"
              data={approved.map((one) => ({
                value: one.id,
                label: `${one.name} (${one.language})`,
              }))}
              value={name}
              onChange={setName}
            />
            {template && <TemplateValues key={template.id} template={template} {...props} />}
          </Stack>
        );
      }}
    </Loaded>
  );
}

function TemplateValues({
  template,
  client,
  to,
  pending,
  onSend,
}: FormProps & { template: Template }) {
  const [values, setValues] = useState<Record<string, string>>({});
  const variables = variablesOf(template.components);
  const complete = variables.every(({ key }) => (values[key] ?? '').trim() !== '');
  const components = messageComponents(template.components, (key) => values[key] ?? '');
  const { name, language } = template;
  return (
    <Group align="flex-start" gap="xl">
      <Stack flex="1 1 280px">
        <Variables variables={variables} values={values} onChange={setValues} />
        <Button
          w="fit-content"
          loading={pending}
          disabled={to.trim() === '' || !complete}
          onClick={() =>
            onSend('/v1/messages/template', { template: { name, language, components } })
          }
        >
          Send
        </Button>
        {complete && (
          <NextMessage
            client={client}
            to={to}
            kind="template"
            body={{ template: { name, language, components } }}
          />
        )}
      </Stack>
      <TemplatePreview components={template.components} values={values} />
    </Group>
  );
}
