// The buttons below the fields of a form in a dialog.
import { Button, Group } from '@mantine/core';

interface FormButtonsProps {
  action: string;
  pending: boolean;
  disabled: boolean;
  onClose: () => void;
}

export const FormButtons = ({ action, pending, disabled, onClose }: FormButtonsProps) => (
  <Group justify="flex-end">
    <Button variant="default" onClick={onClose}>
      Cancel
    </Button>
    <Button type="submit" loading={pending} disabled={disabled}>
      {action}
    </Button>
  </Group>
);
