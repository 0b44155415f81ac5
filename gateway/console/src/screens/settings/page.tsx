// The frame of the pages of the settings: their navigation, and what most of them read.
import { Button, Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { settingsQuery, useMay } from '../../api/queries';
import type { Settings } from '../../api/types';
import { Changeable } from '../../parts/allowed';
import { Loaded } from '../../parts/loaded';
import { Page } from '../../parts/page';
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
  const pages = SETTINGS.filter(({ scope }) => scope === null || may(scope));
  const own = SETTINGS.find((one) => one.to === to)?.label ?? '';
  return (
    <>
      <Group component="nav" aria-label="Settings" gap="xs" mb="lg">
        {pages.map((one) => (
          <Button
            key={one.to}
            component={Link}
            to={one.to}
            size="compact-sm"
            variant={one.to === to ? 'filled' : 'default'}
          >
            {one.label}
          </Button>
        ))}
      </Group>
      <Page title={title ?? own} {...page} />
    </>
  );
}

/** Forms of the settings; a role that may not change them reads them. */
export function SettingsForms({ children }: { children: (settings: Settings) => ReactNode }) {
  const query = useQuery(settingsQuery);
  return (
    <Loaded query={query} what="the settings" lines={8}>
      {(settings) => <Changeable scope="manage">{children(settings)}</Changeable>}
    </Loaded>
  );
}
