// A new webhook endpoint. Its secret is shown once, after it was made.
import { Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../api/client';
import { endpointsQuery } from '../../api/queries';
import type { EndpointWithSecret } from '../../api/types';
import type { EventFilter } from '../../event-filter';
import { Failure } from '../../parts/failure';
import { FormButtons } from '../../parts/form-buttons';
import { Dialog } from '../../parts/panel';
import { ShownOnce } from '../../parts/shown-once';
import { AddressField, DescriptionField, DestinationsGuide } from './endpoint-fields';
import { FilterField } from './event-choice';
import { useSaving } from './save-settings';
import { VerifyGuide } from './secret';

const FIELDS = ['url', 'description', 'events'];

export function CreateEndpoint({ onClose }: { onClose: () => void }) {
  const [url, setUrl] = useState('');
  const [description, setDescription] = useState('');
  const [events, setEvents] = useState<EventFilter>(null);
  const queries = useQueryClient();
  const { save, refusalOf } = useSaving(
    () =>
      call<EndpointWithSecret>('POST', '/v1/webhook-endpoints', {
        body: { url: url.trim(), description: description.trim(), events },
      }),
    () => queries.invalidateQueries({ queryKey: endpointsQuery.queryKey }),
  );
  return (
    <Dialog onClose={onClose} title="Add a webhook endpoint" size="xl">
      {save.data ? (
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
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            save.mutate();
          }}
        >
          <Stack gap="sm">
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
            {save.error && FIELDS.every((field) => refusalOf(field) === null) && (
              <Failure error={save.error} title="The endpoint was not added" />
            )}
            <FormButtons
              action="Add"
              pending={save.isPending}
              disabled={url.trim() === ''}
              onClose={onClose}
            />
            <Text size="sm" c="dimmed">
              Events can go to a Kafka topic, an AMQP exchange, an SQS queue or an S3 bucket too:{' '}
              <DestinationsGuide />
            </Text>
          </Stack>
        </form>
      )}
    </Dialog>
  );
}
