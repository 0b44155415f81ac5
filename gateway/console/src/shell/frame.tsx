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
  type ActionIconProps,
} from '@mantine/core';
import { useDisclosure, useHotkeys } from '@mantine/hooks';
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
  MagnifyingGlassIcon,
  MobileIcon,
  MoonIcon,
  PaperPlaneIcon,
  PersonIcon,
  ReaderIcon,
  SunIcon,
} from '@radix-ui/react-icons';
import { useQuery } from '@tanstack/react-query';
import { Link, Navigate, Outlet, useLocation, useMatches } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useState, type ReactNode } from 'react';
import { signOut } from '../api/client';
import { sessionQuery, useMay } from '../api/queries';
import icon from '../icon.svg';
import { NotIncluded } from '../parts/allowed';
import { Page, TextLink } from '../parts/layout';
import type { Opened } from './find';
import { placeAt, SCREENS } from './places';

const Dialogs = lazy(async () => ({ default: (await import('./find')).Dialogs }));

const ICONS = {
  '/': DashboardIcon,
  '/numbers': MobileIcon,
  '/messages': ChatBubbleIcon,
  '/events': LightningBoltIcon,
  '/problems': ExclamationTriangleIcon,
  '/broadcasts': PaperPlaneIcon,
  '/templates': FileTextIcon,
  '/usage': BarChartIcon,
  '/settings': GearIcon,
  '/developers': CodeIcon,
} satisfies Record<(typeof SCREENS)[number]['to'], unknown>;

/** The search and the list of keys are open while it is set. */
function useDialog() {
  const [dialog, setDialog] = useState<Opened>();
  const find = (): void => setDialog('find');
  const keys = (): void => setDialog('keys');
  useHotkeys([['mod+K', find]], []);
  useHotkeys([
    ['/', find],
    ['shift+/', find],
    ['?', keys],
    ['shift+?', keys],
  ]);
  return { dialog, find, close: () => setDialog(undefined) };
}

export function Frame() {
  const [opened, { toggle, close }] = useDisclosure();
  const { pathname } = useLocation();
  const may = useMay();
  useEffect(close, [pathname, close]);
  const { dialog, find, close: closeDialog } = useDialog();
  const screens = SCREENS.filter(({ scope }) => may(scope));
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 220, breakpoint: 'sm', collapsed: { mobile: !opened } }}
      padding={{ base: 'md', sm: 'xl' }}
    >
      <a className="skip-link" href="#content">
        Skip to the content
      </a>
      <Header opened={opened} onToggle={toggle} onFind={find} />
      <AppShell.Navbar p="sm" aria-label="Screens" style={{ overflowY: 'auto' }}>
        <Entries screens={screens} pathname={pathname} />
      </AppShell.Navbar>
      <AppShell.Main id="content" tabIndex={-1}>
        <Box maw={1180} mx="auto">
          <Suspense fallback={<Loader aria-label="Loading the screen" />}>
            <AllowedScreen />
          </Suspense>
        </Box>
      </AppShell.Main>
      <Suspense fallback={null}>
        {dialog && <Dialogs opened={dialog} screens={screens} onClose={closeDialog} />}
      </Suspense>
    </AppShell>
  );
}

interface HeaderProps {
  opened: boolean;
  onToggle: () => void;
  onFind: () => void;
}

function Header({ opened, onToggle, onFind }: HeaderProps) {
  const name = useQuery(sessionQuery).data?.name ?? '';
  const { label, icon: scheme_icon, use } = useOtherScheme();
  return (
    <AppShell.Header>
      <Group h="100%" px="md" gap="sm" wrap="nowrap">
        <Burger
          opened={opened}
          onClick={onToggle}
          hiddenFrom="sm"
          size="sm"
          aria-label={opened ? 'Close the menu' : 'Open the menu'}
        />
        <img src={icon} alt="" width={26} height={26} />
        <Text fw={650} truncate flex={1}>
          {name}
        </Text>
        <HeaderButton label="Find" title="Find (Ctrl K)" onClick={onFind}>
          <MagnifyingGlassIcon aria-hidden />
        </HeaderButton>
        <Group gap="xs" visibleFrom="sm">
          <HeaderButton label={label} onClick={use}>
            {scheme_icon}
          </HeaderButton>
          <AccountMenu name={name} />
        </Group>
      </Group>
    </AppShell.Header>
  );
}

interface HeaderButtonProps extends ActionIconProps {
  label: string;
  title?: string;
  onClick?: () => void;
}

const HeaderButton = ({ label, ...button }: HeaderButtonProps) => (
  <ActionIcon variant="subtle" color="gray" aria-label={label} {...button} />
);

interface EntriesProps {
  screens: ReadonlyArray<(typeof SCREENS)[number]>;
  pathname: string;
}

/** On a phone the one menu has what the header of a wide screen has. */
function Entries({ screens, pathname }: EntriesProps) {
  const { label: scheme, icon: scheme_icon, use } = useOtherScheme();
  return (
    <>
      {screens.map(({ to, label }) => {
        const Icon = ICONS[to];
        return (
          <NavLink
            key={to}
            component={Link}
            to={to}
            label={label}
            leftSection={<Icon aria-hidden />}
            active={to === '/' ? pathname === '/' : pathname.startsWith(to)}
            styles={ROUNDED}
          />
        );
      })}
      <NavLink
        href={new URL('../docs', document.baseURI).href}
        label="Documentation"
        leftSection={<ReaderIcon aria-hidden />}
        styles={ROUNDED}
      />
      <Box hiddenFrom="sm">
        <NavLink
          component="button"
          label={scheme}
          leftSection={scheme_icon}
          styles={ROUNDED}
          onClick={use}
        />
        <NavLink
          component="button"
          label="Sign out"
          leftSection={<ExitIcon aria-hidden />}
          styles={ROUNDED}
          onClick={() => void signOut()}
        />
      </Box>
    </>
  );
}

/** Instead of a screen that does not exist. */
export const Missing = () => (
  <Page title="No such page" description="The console has no page at this address.">
    <TextLink to="/" size="md">
      Go to the overview
    </TextLink>
  </Page>
);

/** One element: another one would navigate again. */
const TO_USAGE = <Navigate to="/usage" />;

/** A role that does not include the screen makes none of its requests. */
function AllowedScreen() {
  // Not the address, which changes before the screen does.
  const path = useMatches({ select: (matches) => matches.at(-1)?.routeId as string | undefined });
  const may = useMay();
  const place = placeAt(path ?? '');
  if (!place?.scope || may(place.scope)) return <Outlet />;
  if (place.to === '/') return TO_USAGE;
  return <NotIncluded title={place.label} scope={place.scope} />;
}

const ROUNDED = { root: { borderRadius: 'var(--radius-m)' } };

function useOtherScheme(): { label: string; icon: ReactNode; use: () => void } {
  const { setColorScheme } = useMantineColorScheme();
  const scheme = useComputedColorScheme('light');
  const other = scheme === 'light' ? 'dark' : 'light';
  return {
    label: `Use ${other} colours`,
    icon: scheme === 'light' ? <MoonIcon aria-hidden /> : <SunIcon aria-hidden />,
    use: () => setColorScheme(other),
  };
}

function AccountMenu({ name }: { name: string }) {
  const person = useQuery(sessionQuery).data?.person;
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <HeaderButton label="Account">
          <PersonIcon aria-hidden />
        </HeaderButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{person ? `${person.email} (${person.role})` : name}</Menu.Label>
        <Menu.Item leftSection={<ExitIcon />} onClick={() => void signOut()}>
          Sign out
        </Menu.Item>
        <Menu.Item leftSection={<ExitIcon />} onClick={() => void signOut({ everywhere: true })}>
          Sign out everywhere
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
