import { Badge } from '@mantine/core';

/**
 * Colours of all states that the API names. Colour never stands alone: the word is in the badge.
 */
const COLOURS: Record<string, string> = {
  active: 'green',
  invited: 'blue',
  connected: 'green',
  delivered: 'green',
  read: 'green',
  completed: 'green',
  done: 'green',
  succeeded: 'green',
  unknown: 'yellow',
  paid: 'green',
  APPROVED: 'green',
  GREEN: 'green',
  sent: 'teal',
  processing: 'blue',
  running: 'blue',
  scheduled: 'blue',
  requested: 'green',
  waiting: 'yellow',
  waits_for_approval: 'yellow',
  expired: 'red',
  pending: 'yellow',
  pausing: 'yellow',
  resuming: 'blue',
  retrying: 'yellow',
  untested: 'yellow',
  paused: 'orange',
  PENDING: 'yellow',
  IN_APPEAL: 'yellow',
  YELLOW: 'yellow',
  action_required: 'orange',
  PAUSED: 'orange',
  failed: 'red',
  declined: 'red',
  breaking: 'red',
  RED: 'red',
  REJECTED: 'red',
  DISABLED: 'red',
};

export function State({ of }: { of: string | null | undefined }) {
  if (!of) return <span>–</span>;
  return (
    <Badge color={COLOURS[of] ?? 'gray'} variant="dot" size="md" tt="none" fw={500}>
      {of.toLowerCase().replace(/_/g, ' ')}
    </Badge>
  );
}
