import { Center, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';

/** A list without entries: why it is empty and what to do next. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <Center py="xl" px="md">
      <Stack gap={4} align="center" maw={440}>
        <Text fw={600}>{title}</Text>
        <Text component="div" size="sm" c="dimmed" ta="center">
          {children}
        </Text>
      </Stack>
    </Center>
  );
}
