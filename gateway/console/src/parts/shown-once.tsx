// A secret or a link that is shown only after it was made.
import { Button, Code, Group, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Copy } from './copy';
import { focusOnMount } from './focus-on-mount';

interface ShownOnceProps {
  children: ReactNode;
  value: string;
  copy: string;
  testid: string;
  onClose: () => void;
}

export const ShownOnce = ({ children, value, copy, testid, onClose }: ShownOnceProps) => (
  <Stack gap="sm" ref={focusOnMount} tabIndex={-1} className="focused-content">
    <Text size="sm">{children}</Text>
    <Group gap="xs" wrap="nowrap">
      <Code data-testid={testid} style={{ overflowWrap: 'anywhere' }}>
        {value}
      </Code>
      <Copy text={value} label={copy} />
    </Group>
    <Button onClick={onClose}>Done</Button>
  </Stack>
);
