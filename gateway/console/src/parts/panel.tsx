// Panels beside a list and dialogs above a screen. Rendered only while they are open: when one
// closes, the focus returns to what opened it.
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

/** The details of a row, at the right edge. */
export function Panel({ title, size = 'lg', onClose, children }: PanelProps) {
  const close = usePanel(onClose);
  return (
    <Drawer.Root opened onClose={close} position="right" size={size} returnFocus={false}>
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
  const close = usePanel(onClose);
  return (
    <Modal.Root opened onClose={close} centered size={size} returnFocus={false}>
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
