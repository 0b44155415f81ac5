import { TextInput } from '@mantine/core';
import type { Variable } from '../template';

interface VariablesProps {
  variables: readonly Variable[];
  values: Record<string, string>;
  onChange: (values: Record<string, string>) => void;
}

/** One field for each variable of a template. */
export const Variables = ({ variables, values, onChange }: VariablesProps) =>
  variables.map(({ key, label, example }) => (
    <TextInput
      key={key}
      label={label}
      placeholder={example}
      required
      value={values[key] ?? ''}
      onChange={(event) => onChange({ ...values, [key]: event.currentTarget.value })}
    />
  ));
