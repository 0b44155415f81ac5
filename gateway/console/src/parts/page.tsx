import { Box, Group, Stack, Text, Title } from '@mantine/core';
import { useEffect, type ReactNode } from 'react';

interface PageProps {
  title: string;
  description?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}

/** A screen: its heading, its actions, and its content. */
export function Page({ title, description, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Console`;
  }, [title]);
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
