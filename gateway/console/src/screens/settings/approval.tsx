// From which size a broadcast waits for the approval of a second person. Everybody reads it, owners
// change it.
import { Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call, type ApiFailure } from '../../api/client';
import { approvalQuery, sessionQuery, useChange } from '../../api/queries';
import type { ApprovalSetting } from '../../api/types';
import { FormDialog, Opens, type Closing } from '../../parts/dialogs';
import { LoadedCard } from '../../parts/layout';
import { countOf, nounOf } from '../../period';
import { numberOf } from './page';

const APPROVERS_MIN = 2;

export function BroadcastApproval() {
  const query = useQuery(approvalQuery);
  const is_owner = useQuery(sessionQuery).data?.person?.role === 'owner';
  return (
    <LoadedCard title="Approval of broadcasts" query={query} what="the approval of broadcasts">
      {(setting) => (
        <Stack gap="sm">
          <Text size="sm">{inWords(setting)}</Text>
          {is_owner ? (
            <Opens label="Change the approval …" w="fit-content">
              {(close) => <ChangeApproval setting={setting} onClose={close} />}
            </Opens>
          ) : (
            <Text size="sm" c="dimmed">
              Only a person with the role owner changes it.
            </Text>
          )}
        </Stack>
      )}
    </LoadedCard>
  );
}

const inWords = ({ above }: ApprovalSetting): string =>
  above === null
    ? 'Broadcasts of any size are sent without an approval.'
    : `A broadcast to more than ${nounOf(above, 'contact')} waits until a second person approves it.`;

function ChangeApproval({ setting, onClose }: Closing<{ setting: ApprovalSetting }>) {
  const { above, approvers } = setting;
  const [text, setText] = useState(above === null ? '' : String(above));
  const save = useChange(
    [approvalQuery],
    () => call('PUT', '/v1/broadcast-approval', { body: { above: numberOf(text) } }),
    onClose,
  );
  const refused = (save.error as ApiFailure | null)?.code === 'INVALID_FIELD';
  return (
    <FormDialog
      title="Approval of broadcasts"
      action="Save"
      work={save}
      failure={refused ? undefined : 'The approval was not changed'}
      onClose={onClose}
    >
      <TextInput
        label="Contacts without an approval"
        description="Broadcasts to more contacts wait for a second person. Empty: none wait."
        inputMode="numeric"
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        error={refused ? save.error?.message : null}
        data-autofocus
      />
      <Text size="sm">
        Owners and developers approve, and nobody approves a broadcast of their own.{' '}
        {approvers < APPROVERS_MIN
          ? `It needs two of them, and there ${approvers === 1 ? 'is one' : 'are none'}: invite another person first.`
          : `There are ${countOf(approvers)} of them.`}
      </Text>
    </FormDialog>
  );
}
