// What can be done with a row of a table: a small button for each.
import { Button, Group } from '@mantine/core';

interface RowActionsProps<Kind extends string> {
  of: ReadonlyArray<readonly [kind: Kind, label: string]>;
  /** Distinguishes the buttons of this row for screen readers. */
  name: string;
  onChoose: (kind: Kind) => void;
}

export const RowActions = <Kind extends string>({ of, name, onChoose }: RowActionsProps<Kind>) => (
  <Group gap="xs" wrap="nowrap">
    {of.map(([kind, label]) => (
      <Button
        key={kind}
        size="compact-xs"
        variant="default"
        aria-label={`${label} ${name}`}
        onClick={() => onChoose(kind)}
      >
        {label}
      </Button>
    ))}
  </Group>
);
