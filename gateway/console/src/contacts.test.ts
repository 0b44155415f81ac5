// Contacts from a CSV file or pasted text.
import { guessMapping, hasRecipients, readContacts, readTable } from './contacts';

const CSV = `name,phone,order
Ada,+1 (555) 010-0777,A-17
Bob,nonsense,A-18
"Eve, of Example",15550100779,
Ida,15550100777,A-20

Uma,XX.abc123,A-21
`;

test('names every row that cannot be sent with its line in the file', () => {
  const table = readTable(CSV);
  expect(table.columns).toEqual(['name', 'phone', 'order']);
  const variables = [
    { key: '1', label: 'Text 1' },
    { key: 'order', label: 'Text order' },
  ];
  const mapping = guessMapping(table, variables);
  expect(mapping).toEqual({ recipient: 1, params: { '1': 0, order: 2 } });
  expect(readContacts(table, mapping, variables)).toEqual({
    contacts: [
      { recipient: '+1 (555) 010-0777', params: { '1': 'Ada', order: 'A-17' } },
      { recipient: 'XX.abc123', params: { '1': 'Uma', order: 'A-21' } },
    ],
    bad: [
      { line: 3, problem: '“nonsense” is not an international phone number' },
      { line: 4, problem: 'has no value for Text order' },
      { line: 5, problem: 'has the same recipient as line 2' },
    ],
  });
});

test('reads pasted numbers without a header', () => {
  const table = readTable('15550100777\n15550100778\r\n');
  const { contacts, bad } = readContacts(table, guessMapping(table, []), []);
  expect([contacts, bad]).toEqual([
    [{ recipient: '15550100777' }, { recipient: '15550100778' }],
    [],
  ]);
});

test('has no contacts in an empty text', () => {
  expect(readTable(' \n')).toEqual({ columns: [], rows: [] });
});

test('recognises a file without phone numbers', () => {
  expect(hasRecipients(readTable('name,code\nAda,A-1\nBob,B-1'))).toBe(false);
  expect(hasRecipients(readTable('phone,name\nnonsense,Ada\n15550100777,Bob'))).toBe(true);
});
