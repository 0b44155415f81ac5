import {
  Alert,
  Button,
  FileInput,
  Group,
  List,
  Select,
  Stack,
  Text,
  Textarea,
} from '@mantine/core';
import { useState } from 'react';
import type { Template } from '../../api/types';
import {
  CONTACTS_MAX,
  guessMapping,
  hasRecipients,
  readContacts,
  readTable,
  type BadRow,
  type Contact,
  type Mapping,
  type Table,
} from '../../contacts';
import { countOf, nounOf } from '../../period';
import { variablesOf, type Variable } from '../../template';

interface ContactsStepProps {
  template: Template;
  /** Lines to begin with. */
  first?: string | undefined;
  onDone: (contacts: Contact[]) => void;
}

/** Contacts from a file or pasted; columns are matched to the variables of the template. */
export function ContactsStep({ template, first = '', onDone }: ContactsStepProps) {
  const [text, setText] = useState(first);
  const [mapping, setMapping] = useState<Mapping | null>(null);
  const variables = variablesOf(template.components);
  const table = readTable(text);
  const used = mapping ?? guessMapping(table, variables);
  const { contacts, bad } = readContacts(table, used, variables);
  const no_phones = table.rows.length > 0 && !hasRecipients(table);
  const change = (next: string): void => {
    setText(next);
    setMapping(null);
  };
  return (
    <Stack mt="md">
      <FileInput
        label="CSV file"
        description="The first row names the columns."
        placeholder="Choose a file"
        accept=".csv,text/csv,text/plain"
        maw={360}
        onChange={(file) => void file?.text().then(change)}
      />
      <Textarea
        label="Or paste contacts"
        description="One a line: a phone number with its country code, then the values, separated by commas."
        autosize
        minRows={3}
        maxRows={8}
        value={text}
        onChange={(event) => change(event.currentTarget.value)}
      />
      {table.rows.length > 0 && (
        <Columns table={table} variables={variables} mapping={used} onChange={setMapping} />
      )}
      {no_phones ? <NoPhones columns={table.columns} /> : <BadRows bad={bad} />}
      {table.rows.length > 0 && (
        <Text size="sm" role="status">
          {countOf(contacts.length)} of {countOf(table.rows.length)} rows can be sent.
        </Text>
      )}
      {contacts.length > CONTACTS_MAX && (
        <Alert color="red" title={`A broadcast takes at most ${countOf(CONTACTS_MAX)} contacts`} />
      )}
      <Button
        w="fit-content"
        disabled={contacts.length === 0 || contacts.length > CONTACTS_MAX}
        onClick={() => onDone(contacts)}
      >
        Continue with {nounOf(contacts.length, 'contact')}
      </Button>
    </Stack>
  );
}

interface ColumnsProps {
  table: Table;
  variables: Variable[];
  mapping: Mapping;
  onChange: (mapping: Mapping) => void;
}

function Columns({ table, variables, mapping, onChange }: ColumnsProps) {
  const { recipient, params } = mapping;
  const choice = (
    key: string,
    label: string,
    column: number | undefined,
    choose: (at: number) => Mapping,
  ) => (
    <Select
      key={key}
      label={label}
      data={table.columns.map((name, at) => ({ value: String(at), label: name }))}
      value={column === -1 ? null : String(column)}
      onChange={(value) => onChange(choose(Number(value)))}
      allowDeselect={false}
    />
  );
  return (
    <Group gap="sm">
      {choice('', 'Recipient', recipient, (at) => ({ ...mapping, recipient: at }))}
      {variables.map(({ key, label }) =>
        choice(key, label, params[key], (at) => ({ ...mapping, params: { ...params, [key]: at } })),
      )}
    </Group>
  );
}

const NoPhones = ({ columns }: { columns: readonly string[] }) => (
  <Alert color="red" variant="light" role="alert" title="There is no column with phone numbers">
    The columns are {columns.map((name) => `“${name}”`).join(', ')}. Add one named “phone” with
    numbers that begin with their country code, such as 15550100777.
  </Alert>
);

const SHOWN_MAX = 20;

const BadRows = ({ bad }: { bad: BadRow[] }) =>
  bad.length > 0 && (
    <Alert
      color="yellow"
      role="alert"
      title={`${countOf(bad.length)} ${bad.length === 1 ? 'row is' : 'rows are'} left out`}
    >
      <List size="sm">
        {bad.slice(0, SHOWN_MAX).map(({ line, problem }) => (
          <List.Item key={line}>
            Line {line} {problem}
          </List.Item>
        ))}
      </List>
      {bad.length > SHOWN_MAX && <Text size="sm">and {countOf(bad.length - SHOWN_MAX)} more</Text>}
    </Alert>
  );
