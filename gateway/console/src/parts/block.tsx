import { Box, Code } from '@mantine/core';
import { Copy } from './values';

/** JSON or a program, with a button that copies it. */
export function Block({ text, label }: { text: string; label: string }) {
  return (
    <Box pos="relative">
      <Code block tabIndex={0} role="region" aria-label={label} fz={12}>
        {text}
      </Code>
      <Box pos="absolute" top={6} right={6} className="block-copy">
        <Copy text={text} label={`Copy ${label}`} />
      </Box>
    </Box>
  );
}

export const Json = ({ value, label }: { value: unknown; label: string }) => (
  <Block text={JSON.stringify(value, null, 2)} label={label} />
);
