import { Group, Paper, Title } from '@mantine/core';
import type { ReactNode } from 'react';

export function Card({
  title,
  aside,
  children,
}: {
  title?: string;
  aside?: ReactNode;
  children: ReactNode;
}) {
  return (
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
}
