// A form that is saved: its fields, its button, and why it was not saved.
import { Button, Group, Stack } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { call, type ApiFailure } from '../../api/client';
import { settingsQuery } from '../../api/queries';
import type { Settings } from '../../api/types';
import { Failure } from '../../parts/failure';

/** What is sent is forgotten with the form: it may be a secret, and so may the answer. */
export function useSaving<T>(send: () => Promise<T>, onSaved: (answer: T) => unknown) {
  const save = useMutation({ mutationFn: send, onSuccess: onSaved, gcTime: 0 });
  const failure = save.error as ApiFailure | null;
  const named = (failure?.details as { field?: string } | null | undefined)?.field ?? '';
  return {
    save,
    /** Why a field, or an item of it, was refused; null if it was not. */
    refusalOf: (field: string): string | null =>
      named === field || named.startsWith(`${field}[`) ? (failure?.message ?? null) : null,
  };
}

/** Saves what `changed` returns; the screens show the settings of the answer at once. */
export function useSaveSettings(changed: () => Partial<Record<keyof Settings, unknown>>) {
  const queries = useQueryClient();
  return useSaving(
    () => call<{ settings: Settings }>('PATCH', '/settings', { body: changed() }),
    (answer) => queries.setQueryData(settingsQuery.queryKey, answer.settings),
  );
}

interface SaveFormProps {
  save: { mutate: () => void; isPending: boolean; error: Error | null };
  refusalOf: (field: string) => string | null;
  /** What the button says. */
  action: string;
  /** Names what was not saved: "The logo". */
  what: string;
  /** The fields that show their own refusals. */
  fields?: readonly string[];
  /** True if there is nothing to save. The button keeps the keyboard focus then. */
  is_saved?: boolean;
  /** Other buttons. */
  beside?: ReactNode;
  children: ReactNode;
}

export function SaveForm(props: SaveFormProps) {
  const { save, refusalOf, action, what, fields = [], is_saved = false, beside, children } = props;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (!is_saved) save.mutate();
      }}
    >
      <Stack gap="sm">
        {children}
        <Group gap="xs">
          <Button
            type="submit"
            loading={save.isPending}
            data-disabled={is_saved || undefined}
            aria-disabled={is_saved || undefined}
          >
            {action}
          </Button>
          {beside}
        </Group>
        {save.error && fields.every((field) => refusalOf(field) === null) && (
          <Failure error={save.error} title={`${what} not saved`} />
        )}
      </Stack>
    </form>
  );
}
