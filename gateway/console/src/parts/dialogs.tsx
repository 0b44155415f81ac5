// Panels beside a list and dialogs above a screen. Rendered only while they are open: when one
// closes, the focus returns to what opened it.
import {
  Button,
  Code,
  Drawer,
  Group,
  Modal,
  Stack,
  Text,
  TextInput,
  type ButtonProps,
  type MantineSize,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useEffect, useState, type ReactNode } from 'react';
import type { Work } from '../api/queries';
import { Failure, Form } from './layout';
import { Copy } from './values';

/** What a panel or dialog is about, and how it is closed. */
export type Closing<T = object> = T & { onClose: () => void };

interface PanelProps {
  title: ReactNode;
  size?: MantineSize;
  onClose: () => void;
  children: ReactNode;
}

/** A header that would be a second banner of the page for screen readers. */
const HEADER_ROLE = 'presentation';

/** The open panels, the topmost last: a dialog of a panel is above it. */
const open_panels: symbol[] = [];

/**
 * Returns how to close the panel: only the topmost one closes, because Escape reaches all of them.
 * When it has closed, the focus is where it was; without such an element (a link opened the panel,
 * or its button was removed), on the panel below, else on the heading.
 */
function usePanel(onClose: () => void): () => void {
  const [id] = useState(() => Symbol('panel'));
  const [opener] = useState(() => document.activeElement);
  useEffect(() => {
    open_panels.push(id);
    return () => {
      // After this turn: the focus trap has ended, and Escape has reached every panel.
      setTimeout(() => {
        open_panels.splice(open_panels.indexOf(id), 1);
        const is_there = opener instanceof HTMLElement && opener.isConnected;
        const target = is_there && opener !== document.body ? opener : null;
        const below = open_panels.length > 0 ? '[role="dialog"]' : 'h1';
        (target ?? document.querySelector<HTMLElement>(below))?.focus();
      });
    };
  }, [id, opener]);
  return () => {
    if (open_panels.at(-1) === id) onClose();
  };
}

/** The library's drawer and modal have the same parts. */
const windowOf = (Root: typeof Modal, place: object, usual_size: MantineSize) =>
  function Window({ title, size = usual_size, onClose, children }: PanelProps) {
    const close = usePanel(onClose);
    return (
      <Root.Root opened onClose={close} {...place} size={size} returnFocus={false}>
        <Root.Overlay />
        <Root.Content>
          <Root.Header role={HEADER_ROLE}>
            <Root.Title>{title}</Root.Title>
            <Root.CloseButton aria-label="Close" />
          </Root.Header>
          <Root.Body>{children}</Root.Body>
        </Root.Content>
      </Root.Root>
    );
  };

/** The details of a row, at the right edge. */
export const Panel = windowOf(Drawer as never, { position: 'right' }, 'lg');

/** A form or a question in the middle of the window. */
export const Dialog = windowOf(Modal, { centered: true }, 'md');

interface OpensProps extends Omit<ButtonProps, 'children'> {
  label: string;
  /** Distinguishes the buttons of one row from those of others, for screen readers. */
  of?: string;
  /** The dialog. */
  children: (close: () => void) => ReactNode;
}

/** A button, and the dialog that it opens. */
export function Opens({ label, of, children, ...button }: OpensProps) {
  const [is_open, { open, close }] = useDisclosure();
  return (
    <>
      <Button
        variant="default"
        aria-label={of && `${label} ${of}`}
        {...(of && { size: 'compact-xs' })}
        {...button}
        onClick={open}
      >
        {label}
      </Button>
      {is_open && children(close)}
    </>
  );
}

interface FormDialogProps extends PanelProps {
  action: string;
  /** The colour of the button. */
  color?: string | undefined;
  work: Work;
  /** The title of a failure; absent if a field shows it. */
  failure?: string | undefined;
  disabled?: boolean;
  /** What the action made, which replaces the form. */
  made?: ReactNode;
}

export function FormDialog(props: FormDialogProps) {
  const { action, color, work, failure, disabled = false, made, children, ...dialog } = props;
  return (
    <Dialog {...dialog}>
      {made || (
        <Form onSubmit={() => work.mutate()}>
          <Stack gap="sm">
            {children}
            {work.error && failure && <Failure error={work.error} title={failure} />}
            <Group justify="flex-end">
              <Button variant="default" onClick={dialog.onClose}>
                Cancel
              </Button>
              <Button type="submit" color={color} loading={work.isPending} disabled={disabled}>
                {action}
              </Button>
            </Group>
          </Stack>
        </Form>
      )}
    </Dialog>
  );
}

interface ConfirmProps extends Omit<FormDialogProps, 'color' | 'failure' | 'disabled'> {
  /** False for an action that is not destructive. */
  severe?: boolean;
  /** The text that has to be typed first. */
  typed?: string;
}

/** The confirmation of an action. */
export function Confirm({ severe = true, typed, children, ...form }: ConfirmProps) {
  const [text, setText] = useState('');
  return (
    <FormDialog
      {...form}
      color={severe ? 'red.9' : undefined}
      failure="That did not work"
      disabled={typed !== undefined && text.trim() !== typed}
    >
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
    </FormDialog>
  );
}

/**
 * For content that replaces the element with the focus: a `ref` of an element with `tabIndex={-1}`.
 */
export const focusOnMount = (element: HTMLElement | null): void => element?.focus();

type ShownOnceProps = Closing<{ children: ReactNode; value: string; copy: string; testid: string }>;

/** A secret or a link that is shown only after it was made. */
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
