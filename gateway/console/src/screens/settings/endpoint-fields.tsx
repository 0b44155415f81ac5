// The fields of a webhook endpoint in the forms that create and change it.
import { Anchor, TextInput } from '@mantine/core';

const DESCRIPTION_MAX = 200;

interface FieldProps {
  value: string;
  onChange: (value: string) => void;
  error: string | null;
}

export const DescriptionField = ({ onChange, ...field }: FieldProps) => (
  <TextInput
    label="Name"
    description="What it is for, in this list and for your own use"
    placeholder="CRM"
    maxLength={DESCRIPTION_MAX}
    onChange={({ currentTarget }) => onChange(currentTarget.value)}
    {...field}
  />
);

export const AddressField = ({ onChange, ...field }: FieldProps & { description: string }) => (
  <TextInput
    label="Address"
    type="url"
    placeholder="https://example.com/webhooks"
    onChange={({ currentTarget }) => onChange(currentTarget.value)}
    {...field}
  />
);

export const DestinationsGuide = () => (
  <Anchor href="../docs/endpoints#destinations" size="sm">
    Destinations
  </Anchor>
);
