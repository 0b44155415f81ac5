// The frame of the pages of the settings: their navigation, what most of them read, and the forms
// that they save.
import { Button, Group, Stack } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { call, type ApiFailure } from '../../api/client';
import { settingsQuery, useChange, useMay, type Work } from '../../api/queries';
import type { Settings } from '../../api/types';
import { Changeable } from '../../parts/allowed';
import { ButtonLink, Failure, Form, Loaded, Page } from '../../parts/layout';
import { SETTINGS } from '../../shell/places';

interface SettingsPageProps {
  to: (typeof SETTINGS)[number]['to'];
  /** The title of a page below the one at `to`. */
  title?: string;
  description?: string;
  actions?: ReactNode;
  children: ReactNode;
}

export function SettingsPage({ to, title, ...page }: SettingsPageProps) {
  const may = useMay();
  const pages = SETTINGS.filter(({ scope }) => may(scope));
  const own = SETTINGS.find((one) => one.to === to)?.label ?? '';
  return (
    <>
      <Group component="nav" aria-label="Settings" gap="xs" mb="lg">
        {pages.map((one) => (
          <ButtonLink
            key={one.to}
            to={one.to}
            size="compact-sm"
            variant={one.to === to ? 'filled' : 'default'}
          >
            {one.label}
          </ButtonLink>
        ))}
      </Group>
      <Page title={title ?? own} {...page} />
    </>
  );
}

/** Forms of the settings; a role that may not change them reads them. */
export const SettingsForms = ({ children }: { children: (settings: Settings) => ReactNode }) => (
  <Loaded query={useQuery(settingsQuery)} what="the settings" lines={8}>
    {(settings) => <Changeable scope="manage">{children(settings)}</Changeable>}
  </Loaded>
);

/**
 * The number in a field; null if it is empty. Text that is not a number is sent as it is: the
 * service refuses it and names the field.
 */
export function numberOf(text: string): number | string | null {
  const trimmed = text.trim();
  if (trimmed === '') return null;
  return Number.isNaN(Number(trimmed)) ? trimmed : Number(trimmed);
}

/** A change with the fields that it was refused for. */
export function withRefusals<W extends Work>(save: W) {
  const failure = save.error as ApiFailure | null;
  const named = (failure?.details as { field?: string } | null | undefined)?.field ?? '';
  /** Why a field, or an item of it, was refused; null if it was not. */
  const refusalOf = (field: string): string | null =>
    named === field || named.startsWith(`${field}[`) ? (failure?.message ?? null) : null;
  return {
    save,
    refusalOf,
    refusesOneOf: (fields: readonly string[]): boolean =>
      fields.some((field) => refusalOf(field) !== null),
  };
}

/** Saves what `changed` returns; the screens show the settings of the answer at once. */
export function useSaveSettings(changed: () => Partial<Record<keyof Settings, unknown>>) {
  const queries = useQueryClient();
  const save = useChange([], async () => {
    const answer = await call<{ settings: Settings }>('PATCH', '/settings', { body: changed() });
    queries.setQueryData(settingsQuery.queryKey, answer.settings);
  });
  return withRefusals(save);
}

interface SaveFormProps {
  save: Work;
  refusesOneOf: (fields: readonly string[]) => boolean;
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
  const {
    save,
    refusesOneOf,
    action,
    what,
    fields = [],
    is_saved = false,
    beside,
    children,
  } = props;
  return (
    <Form
      onSubmit={() => {
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
        {save.error && !refusesOneOf(fields) && (
          <Failure error={save.error} title={`${what} not saved`} />
        )}
      </Stack>
    </Form>
  );
}
