// Panels beside a list and dialogs above a screen. Rendered only while they are open: when one closes, the
// focus returns to what opened it.
import { Drawer, Modal, type MantineSize } from '@mantine/core';
import { useEffect, useState, type ReactNode } from 'react';

interface PanelProps {
  title: ReactNode;
  size?: MantineSize;
  onClose: () => void;
  children: ReactNode;
}

/** A header that would be a second banner of the page for screen readers. */
const HEADER_ROLE = 'presentation';
const CLOSE = 'Close';

/** Without an element to return to (a link opened the panel), the heading of the screen gets the focus. */
function useFocusReturn(): void {
  const [opener] = useState(() => document.activeElement);
  useEffect(
    () => () => {
      // The focus trap of the panel ends after this turn.
      setTimeout(() => {
        const is_there = opener instanceof HTMLElement && opener.isConnected;
        const target = is_there && opener !== document.body ? opener : null;
        (target ?? document.querySelector<HTMLElement>('h1'))?.focus();
      });
    },
    [opener],
  );
}

/** The details of a row, at the right edge. */
export function Panel({ title, size = 'lg', onClose, children }: PanelProps) {
  useFocusReturn();
  return (
    <Drawer.Root opened onClose={onClose} position="right" size={size} returnFocus={false}>
      <Drawer.Overlay />
      <Drawer.Content>
        <Drawer.Header role={HEADER_ROLE}>
          <Drawer.Title>{title}</Drawer.Title>
          <Drawer.CloseButton aria-label={CLOSE} />
        </Drawer.Header>
        <Drawer.Body>{children}</Drawer.Body>
      </Drawer.Content>
    </Drawer.Root>
  );
}

/** A form or a question in the middle of the window. */
export function Dialog({ title, size = 'md', onClose, children }: PanelProps) {
  useFocusReturn();
  return (
    <Modal.Root opened onClose={onClose} centered size={size} returnFocus={false}>
      <Modal.Overlay />
      <Modal.Content>
        <Modal.Header role={HEADER_ROLE}>
          <Modal.Title>{title}</Modal.Title>
          <Modal.CloseButton aria-label={CLOSE} />
        </Modal.Header>
        <Modal.Body>{children}</Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}
