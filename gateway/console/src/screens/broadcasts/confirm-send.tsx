import { Text } from '@mantine/core';
import type { UseMutationResult } from '@tanstack/react-query';
import type { BroadcastCheck, Client } from '../../api/types';
import { nameOf } from '../../attention';
import { Confirm } from '../../parts/confirm';
import { Facts } from '../../parts/facts';
import { Forecast } from './preflight';

export interface Created {
  broadcast_id: number;
  warnings: Array<{ code: string; message: string }>;
}

interface ConfirmSendProps {
  name: string;
  client: Client;
  contacts: number;
  /** Otherwise it is scheduled. */
  starts_now: boolean;
  check: BroadcastCheck | undefined;
  create: UseMutationResult<Created, Error, void>;
  onClose: () => void;
}

/**
 * The last question before a broadcast is sent: to how many, at what cost, and how long it takes.
 */
export function ConfirmSend(props: ConfirmSendProps) {
  const { name, client, contacts, starts_now, check, create, onClose } = props;
  const waits = check?.reasons.some(({ code }) => code === 'APPROVAL_REQUIRED') ?? false;
  const action = starts_now ? 'Send now' : 'Schedule';
  return (
    <Confirm
      title={`${starts_now ? 'Send' : 'Schedule'} ${name}?`}
      action={waits ? 'Ask for approval' : action}
      severe={false}
      pending={create.isPending}
      error={create.error}
      onConfirm={() => create.mutate()}
      onClose={onClose}
    >
      <Facts of={[['From', `${nameOf(client)} (+${client.phone_number})`]]} />
      <Forecast figures={check?.broadcast} contacts={contacts} />
      <Text size="sm" mt="sm">
        {waits && 'Nothing is sent before another person approves it. '}
        {starts_now
          ? 'It can be paused while it runs, and cancelled while it is paused.'
          : 'It can be cancelled until it starts, and paused while it runs.'}
      </Text>
    </Confirm>
  );
}
