// A new webhook endpoint, and the fields of its form. Its secret is shown once, after it was made.
import { Anchor, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { call } from '../../api/client';
import { endpointsQuery, useChange } from '../../api/queries';
import type { EndpointWithSecret } from '../../api/types';
import type { EventFilter } from '../../event-filter';
import { FormDialog, ShownOnce, type Closing } from '../../parts/dialogs';
import { FilterField } from './event-choice';
import { withRefusals } from './page';
import { VerifyGuide } from './secret';

const DESCRIPTION_MAX = 200;

interface FieldProps {
  value: string;
  onChange: (value: string) => void;
  error: string | null;
}

export const DescriptionField = ({ onChange, ...field }: FieldProps) => (
  <TextInput
    label="Name"
    description="What it is for, in this list and for your own use"
    placeholder="CRM"
    maxLength={DESCRIPTION_MAX}
    onChange={({ currentTarget }) => onChange(currentTarget.value)}
    {...field}
  />
);

export const AddressField = ({ onChange, ...field }: FieldProps & { description: string }) => (
  <TextInput
    label="Address"
    type="url"
    placeholder="https://example.com/webhooks"
    onChange={({ currentTarget }) => onChange(currentTarget.value)}
    {...field}
  />
);

export const DestinationsGuide = () => (
  <Anchor href="../docs/endpoints#destinations" size="sm">
    Destinations
  </Anchor>
);

export function CreateEndpoint({ onClose }: Closing) {
  const [url, setUrl] = useState('');
  const [description, setDescription] = useState('');
  const [events, setEvents] = useState<EventFilter>(null);
  const body = { url: url.trim(), description: description.trim(), events };
  const create = useChange([endpointsQuery], () =>
    call<EndpointWithSecret>('POST', '/v1/webhook-endpoints', { body }),
  );
  const { save, refusalOf, refusesOneOf } = withRefusals(create);
  const is_shown = refusesOneOf(['url', 'description', 'events']);
  return (
    <FormDialog
      title="Add a webhook endpoint"
      size="xl"
      action="Add"
      work={save}
      failure={is_shown ? undefined : 'The endpoint was not added'}
      disabled={url.trim() === ''}
      made={
        save.data && (
          <ShownOnce
            value={save.data.secret ?? ''}
            copy="Copy the secret of the endpoint"
            testid="endpoint-secret"
            onClose={onClose}
          >
            This secret signs its deliveries, and is shown only now: store it in your receiver.{' '}
            <VerifyGuide /> there. The gateway posts a test event in a second; the endpoint gets
            events once it has answered one with 2xx.
          </ShownOnce>
        )
      }
      onClose={onClose}
    >
      <AddressField
        description="HTTPS and public. Events are posted here."
        value={url}
        onChange={setUrl}
        error={refusalOf('url')}
      />
      <DescriptionField
        value={description}
        onChange={setDescription}
        error={refusalOf('description')}
      />
      <FilterField filter={events} onChange={setEvents} error={refusalOf('events')} />
      <Text size="sm" c="dimmed">
        Events can go to a Kafka topic, an AMQP exchange, an SQS queue or an S3 bucket too:{' '}
        <DestinationsGuide />
      </Text>
    </FormDialog>
  );
}
