// Creates a broadcast in steps: template, contacts, confirmation. Nothing is sent before the last
// one.
import { Alert, Button, Group, List, Stack, Stepper, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { call } from '../../api/client';
import { broadcastQuery } from '../../api/queries';
import type { BroadcastCheck, Client, Template } from '../../api/types';
import { nameOf } from '../../attention';
import type { Contact } from '../../contacts';
import { useFilters } from '../../parts/filters';
import { ButtonLink, Card, Facts, Form, Page } from '../../parts/layout';
import { NumberSelect, WithNumber } from '../../parts/numbers';
import { namedInFull, TemplateChoice, TemplatePreview } from '../../parts/templates';
import { countOf, nounOf } from '../../period';
import { messageComponents, variablesOf } from '../../template';
import { ContactsStep } from './contacts-step';
import { ConfirmSend, Preflight } from './preflight';
import { failedOfQuery } from './resend';

interface Created {
  broadcast_id: number;
  warnings: Array<{ code: string; message: string }>;
}

export const Screen = () => (
  <Page title="Create a broadcast">
    <WithNumber>{(client) => <Steps key={client.phone_number_id} client={client} />}</WithNumber>
  </Page>
);

function Steps({ client }: { client: Client }) {
  const [step, setStep] = useState(0);
  const [template, setTemplate] = useState<Template | null>(null);
  const [contacts, setContacts] = useState<Contact[]>([]);
  const place = useRef<HTMLDivElement>(null);
  const failed = useFailedOf();
  // The button of the previous step no longer exists: the keyboard focus moves to the new step.
  useEffect(() => {
    if (step > 0) place.current?.focus();
  }, [step]);
  return (
    <Card>
      <div ref={place} tabIndex={-1} role="group" aria-label="Steps" className="steps">
        <Stepper active={step} onStepClick={setStep} allowNextStepsSelect={false} size="sm">
          <Stepper.Step label="Message">
            <TemplateStep
              client={client}
              onDone={(chosen) => {
                setTemplate(chosen);
                setContacts([]);
                setStep(1);
              }}
            />
          </Stepper.Step>
          <Stepper.Step label="Contacts">
            {template && (
              <ContactsStep
                key={`${template.id}/${failed.data ? 'failed' : ''}`}
                template={template}
                first={failed.data?.join('\n')}
                onDone={(read) => {
                  setContacts(read);
                  setStep(2);
                }}
              />
            )}
          </Stepper.Step>
          <Stepper.Step label="Check and send">
            {template && <ConfirmStep client={client} template={template} contacts={contacts} />}
          </Stepper.Step>
        </Stepper>
      </div>
    </Card>
  );
}

/** The recipients that the copied broadcast failed to reach: a filter of the address. */
function useFailedOf() {
  const [{ copy, status }] = useFilters();
  return useQuery({
    ...failedOfQuery(copy ?? 0),
    enabled: copy !== undefined && status === 'failed',
  });
}

interface TemplateStepProps {
  client: Client;
  onDone: (template: Template) => void;
}

function TemplateStep({ client, onDone }: TemplateStepProps) {
  const [{ copy }] = useFilters();
  const copied = useQuery({ ...broadcastQuery(copy ?? 0), enabled: copy !== undefined });
  const original = copied.data?.broadcast;
  return (
    <Stack mt="md">
      <NumberSelect />
      <TemplateChoice
        client={client}
        isFirst={({ name, language }) =>
          name === original?.template_name && language === original.template_language
        }
      >
        {(template) => (
          <>
            {template && <TemplatePreview components={template.components} />}
            <Button
              w="fit-content"
              disabled={!template}
              onClick={() => template && onDone(template)}
            >
              Continue
            </Button>
          </>
        )}
      </TemplateChoice>
    </Stack>
  );
}

interface ConfirmStepProps {
  client: Client;
  template: Template;
  contacts: Contact[];
}

interface NameAndStartProps {
  name: string;
  setName: (name: string) => void;
  start: string;
  setStart: (start: string) => void;
}

const NameAndStart = ({ name, setName, start, setStart }: NameAndStartProps) => (
  <>
    <TextInput
      label="Name"
      required
      maxLength={200}
      value={name}
      onChange={(event) => setName(event.currentTarget.value)}
    />
    <TextInput
      label="Start"
      description="In your time zone. Empty: at once."
      type="datetime-local"
      value={start}
      onChange={(event) => setStart(event.currentTarget.value)}
    />
  </>
);

function ConfirmStep({ client, template, contacts }: ConfirmStepProps) {
  const [name, setName] = useState(template.name);
  const [start, setStart] = useState('');
  const [key] = useState(() => crypto.randomUUID());
  const body = {
    name: name.trim() || template.name,
    template_name: template.name,
    template_language: template.language,
    template_components: messageComponents(template.components, (one) => `{{${one}}}`),
    contacts,
    scheduled_at: start === '' ? null : new Date(start).toISOString(),
  };
  const check = useQuery({
    // The contacts do not change while this step is shown.
    queryKey: ['broadcast-check', key, start],
    queryFn: ({ signal }) =>
      call<BroadcastCheck>('POST', '/v1/messages/check', { number: client, body, signal }),
    placeholderData: (before) => before,
    gcTime: 0,
  });
  const [asking, setAsking] = useState(false);
  const create = useMutation({
    mutationFn: () =>
      call<Created>('POST', '/v1/broadcasts', { number: client, idempotency_key: key, body }),
  });
  if (create.data) return <CreatedNote created={create.data} />;
  return (
    <Form
      onSubmit={() => {
        create.reset();
        setAsking(true);
      }}
    >
      <Group align="flex-start" gap="xl" mt="md">
        <Stack flex="1 1 280px">
          <NameAndStart {...{ name, setName, start, setStart }} />
          <Facts
            of={[
              ['From', nameOf(client)],
              ['Template', namedInFull(template)],
              ['Contacts', countOf(contacts.length)],
              ['Variables', variablesOf(template.components).length],
            ]}
          />
          <Preflight query={check} />
          <Button type="submit" w="fit-content">
            {start === '' ? 'Send to' : 'Schedule for'} {nounOf(contacts.length, 'contact')}
          </Button>
        </Stack>
        <TemplatePreview components={template.components} values={contacts[0]?.params ?? {}} />
      </Group>
      {asking && (
        <ConfirmSend
          name={body.name}
          client={client}
          contacts={contacts.length}
          start={start === '' ? 'now' : 'later'}
          check={check.data}
          create={create}
          onClose={() => setAsking(false)}
        />
      )}
    </Form>
  );
}

const CreatedNote = ({ created: { broadcast_id, warnings } }: { created: Created }) => (
  <Alert color="green" role="status" title="The broadcast is created" mt="md">
    {warnings.length > 0 && (
      <List size="sm">
        {warnings.map(({ code, message }) => (
          <List.Item key={code}>{message}</List.Item>
        ))}
      </List>
    )}
    <Text size="sm" mb="sm">
      Its contacts are attempted at the pace of the number.
    </Text>
    <ButtonLink size="xs" variant="filled" to="/broadcasts" search={{ open: String(broadcast_id) }}>
      Watch it
    </ButtonLink>
  </Alert>
);
