// The layout of screens: pages, cards, sections and facts, and what stands in for an empty list.
import { Box, Center, Group, Paper, Stack, Text, Title, type TextProps } from '@mantine/core';
import { CheckCircledIcon } from '@radix-ui/react-icons';
import { useEffect, type ReactNode } from 'react';

interface PageProps {
  title: string;
  description?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}

function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Console`;
  }, [title]);
}

/** A page without navigation, for a browser without a session. */
export function FrontPage({ title, children }: Pick<PageProps, 'title' | 'children'>) {
  useTitle(title);
  return (
    <Center component="main" mih="100vh" p="md">
      <Paper withBorder p="xl" w="100%" maw={420} radius="lg">
        <Stack>{children}</Stack>
      </Paper>
    </Center>
  );
}

/** A screen: its heading, its actions, and its content. */
export function Page({ title, description, actions, children }: PageProps) {
  useTitle(title);
  return (
    <Stack gap="lg">
      <Group justify="space-between" align="flex-start" gap="sm">
        <Box miw={0} flex={{ base: '1 1 100%', sm: '1 1 0' }}>
          <Title order={1} size="h2" tabIndex={-1}>
            {title}
          </Title>
          {description && (
            <Text c="dimmed" size="sm" mt={4} maw={720}>
              {description}
            </Text>
          )}
        </Box>
        {actions && <Group gap="xs">{actions}</Group>}
      </Group>
      {children}
    </Stack>
  );
}

interface TitledProps {
  title?: string;
  /** Beside the title. */
  aside?: ReactNode;
  children?: ReactNode;
}

export const Card = ({ title, aside, children }: TitledProps) => (
  <Paper component="section" withBorder p="md" aria-label={title}>
    {title && (
      <Group justify="space-between" mb="sm">
        <Title order={2} size="h5">
          {title}
        </Title>
        {aside}
      </Group>
    )}
    {children}
  </Paper>
);

/** A part of a panel. */
export const Section = ({ title, aside, children }: TitledProps) => (
  <Stack gap="xs">
    <Group justify="space-between">
      <Title order={3} size="h5">
        {title}
      </Title>
      {aside}
    </Group>
    {children}
  </Stack>
);

/** A remark below or beside what it is about. */
export const Hint = (props: TextProps & { children: ReactNode }) => (
  <Text size="xs" c="dimmed" {...props} />
);

/** A list without entries: why it is empty and what to do next. */
export const Empty = ({ title, children }: TitledProps) => (
  <Center py="xl" px="md">
    <Stack gap={4} align="center" maw={440}>
      <Text fw={600}>{title}</Text>
      <Text component="div" size="sm" c="dimmed" ta="center">
        {children}
      </Text>
    </Stack>
  </Center>
);

export const EmptyCard = (props: TitledProps) => (
  <Card>
    <Empty {...props} />
  </Card>
);

/** There is no problem. */
export const AllWell = ({ children }: { children: ReactNode }) => (
  <Group gap="xs" wrap="nowrap">
    <CheckCircledIcon aria-hidden color="var(--mantine-color-green-text)" />
    <Text size="sm">{children}</Text>
  </Group>
);

/** Names and values. Pairs without a value are left out. */
export const Facts = ({ of }: { of: ReadonlyArray<readonly [string, ReactNode]> }) => (
  <dl className="facts">
    {of
      .filter(([, value]) => value !== undefined && value !== null)
      .map(([name, value]) => [<dt key={name}>{name}</dt>, <dd key={`${name}=`}>{value}</dd>])}
  </dl>
);
