// Shows the ways to log in when a change needs a fresh log-in; the change is made again after it.
import { Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { whenLogInIsOld } from '../api/client';
import { sessionQuery } from '../api/queries';
import type { Session } from '../api/types';
import { Dialog } from '../parts/dialogs';
import { LogInForm } from './sign-in';

interface Asked {
  onEntered: () => void;
  onCancel: () => void;
}

export function LogInAgain() {
  const queries = useQueryClient();
  const [asked, setAsked] = useState<Asked>();
  useEffect(() => {
    whenLogInIsOld((refusal) => {
      const entered = new Promise<void>((resolve, reject) => {
        setAsked({ onEntered: resolve, onCancel: () => reject(refusal) });
      });
      return entered.finally(() => setAsked(undefined));
    });
  }, []);
  if (!asked) return null;
  const before = queries.getQueryData(sessionQuery.queryKey);
  const enter = (session: Session): void => {
    // Another person or partner: the screens show what the one before may see.
    if (nameOf(session) !== nameOf(before)) return location.reload();
    queries.setQueryData(sessionQuery.queryKey, session);
    asked.onEntered();
  };
  return (
    <Dialog title="Sign in again" onClose={asked.onCancel}>
      <LogInForm as={before?.person ? 'person' : 'key'} fresh onEnter={enter}>
        <Text size="sm">
          This needs a log-in within the last five minutes. It protects you if this browser was left
          open.
        </Text>
      </LogInForm>
    </Dialog>
  );
}

const nameOf = (session: Session | null | undefined): string =>
  `${session?.partner_id} ${session?.person?.person_id}`;
