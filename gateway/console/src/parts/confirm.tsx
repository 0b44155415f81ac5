import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { Failure } from './failure';
import { Dialog } from './panel';

interface ConfirmProps {
  title: string;
  children: ReactNode;
  action: string;
  /** False for an action that is not destructive. */
  severe?: boolean;
  /** The text that has to be typed first. */
  typed?: string;
  pending: boolean;
  error: Error | null;
  /** What the action made, which replaces the question. */
  made?: { title: string; content: ReactNode } | undefined;
  onConfirm: () => void;
  onClose: () => void;
}

/** The confirmation of an irreversible action. Rendered only while it is open. */
export function Confirm(props: ConfirmProps) {
  const {
    title,
    children,
    action,
    severe = true,
    typed,
    pending,
    error,
    made,
    onConfirm,
    onClose,
  } = props;
  const [text, setText] = useState('');
  if (made) {
    return (
      <Dialog onClose={onClose} title={made.title}>
        {made.content}
      </Dialog>
    );
  }
  return (
    <Dialog onClose={onClose} title={title}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          // React passes it on to a form that renders this dialog, whose own submit it is not.
          event.stopPropagation();
          onConfirm();
        }}
      >
        <Stack>
          <Text component="div" size="sm">
            {children}
          </Text>
          {typed && (
            <TextInput
              label={`Type ${typed} to confirm`}
              value={text}
              onChange={(event) => setText(event.currentTarget.value)}
              autoComplete="off"
              data-autofocus
            />
          )}
          {error && <Failure error={error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button
              type="submit"
              {...(severe && { color: 'red.9' })}
              loading={pending}
              disabled={typed !== undefined && text.trim() !== typed}
            >
              {action}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
