// The frame of every screen: the header and the navigation.
import {
  ActionIcon,
  AppShell,
  Box,
  Burger,
  Group,
  Loader,
  Menu,
  NavLink,
  Text,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import {
  BarChartIcon,
  ChatBubbleIcon,
  CodeIcon,
  DashboardIcon,
  ExclamationTriangleIcon,
  ExitIcon,
  FileTextIcon,
  GearIcon,
  LightningBoltIcon,
  MobileIcon,
  MoonIcon,
  PaperPlaneIcon,
  PersonIcon,
  SunIcon,
} from '@radix-ui/react-icons';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { Suspense, useEffect } from 'react';
import { call } from '../api/client';
import { sessionQuery } from '../api/queries';
import icon from '../icon.svg';

const SCREENS = [
  { to: '/', label: 'Overview', Icon: DashboardIcon },
  { to: '/numbers', label: 'Numbers', Icon: MobileIcon },
  { to: '/messages', label: 'Messages', Icon: ChatBubbleIcon },
  { to: '/events', label: 'Events', Icon: LightningBoltIcon },
  { to: '/problems', label: 'What broke', Icon: ExclamationTriangleIcon },
  { to: '/broadcasts', label: 'Broadcasts', Icon: PaperPlaneIcon },
  { to: '/templates', label: 'Templates', Icon: FileTextIcon },
  { to: '/usage', label: 'Usage', Icon: BarChartIcon },
  { to: '/settings', label: 'Settings', Icon: GearIcon },
  { to: '/developers', label: 'Developers', Icon: CodeIcon },
] as const;

export function Frame() {
  const name = useQuery(sessionQuery).data?.name ?? '';
  const [opened, { toggle, close }] = useDisclosure();
  const { pathname } = useLocation();
  useEffect(close, [pathname, close]);
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 220, breakpoint: 'sm', collapsed: { mobile: !opened } }}
      padding={{ base: 'md', sm: 'xl' }}
    >
      <AppShell.Header>
        <Group h="100%" px="md" gap="sm" wrap="nowrap">
          <Burger
            opened={opened}
            onClick={toggle}
            hiddenFrom="sm"
            size="sm"
            aria-label={opened ? 'Close the menu' : 'Open the menu'}
          />
          <img src={icon} alt="" width={26} height={26} />
          <Text fw={650} truncate flex={1}>
            {name}
          </Text>
          <SchemeSwitch />
          <AccountMenu name={name} />
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="sm" aria-label="Screens">
        {SCREENS.map(({ to, label, Icon }) => (
          <NavLink
            key={to}
            component={Link}
            to={to}
            label={label}
            leftSection={<Icon aria-hidden />}
            active={to === '/' ? pathname === '/' : pathname.startsWith(to)}
            styles={{ root: { borderRadius: 8 } }}
          />
        ))}
      </AppShell.Navbar>
      <AppShell.Main>
        <Box maw={1180} mx="auto">
          <Suspense fallback={<Loader aria-label="Loading the screen" />}>
            <Outlet />
          </Suspense>
        </Box>
      </AppShell.Main>
    </AppShell>
  );
}

function SchemeSwitch() {
  const { setColorScheme } = useMantineColorScheme();
  const scheme = useComputedColorScheme('light');
  const other = scheme === 'light' ? 'dark' : 'light';
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      aria-label={`Use ${other} colours`}
      onClick={() => setColorScheme(other)}
    >
      {scheme === 'light' ? <MoonIcon aria-hidden /> : <SunIcon aria-hidden />}
    </ActionIcon>
  );
}

function AccountMenu({ name }: { name: string }) {
  const queries = useQueryClient();
  const signOut = async (path: '/session' | '/sessions'): Promise<void> => {
    await call('DELETE', path).catch(() => undefined);
    queries.clear();
    queries.setQueryData(sessionQuery.queryKey, null);
  };
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label="Account">
          <PersonIcon aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{name}</Menu.Label>
        <Menu.Item leftSection={<ExitIcon />} onClick={() => void signOut('/session')}>
          Sign out
        </Menu.Item>
        <Menu.Item leftSection={<ExitIcon />} onClick={() => void signOut('/sessions')}>
          Sign out everywhere
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
