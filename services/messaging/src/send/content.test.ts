import { contactsContent } from './content';

const CARD = { name: { formatted_name: 'Bo Berg' }, phones: [{ phone: '+1 555-010-0999' }] };

test('cards are passed on unchanged, up to the limit of the upstream', () => {
  const contacts = Array(257).fill(CARD);
  expect(contactsContent({ contacts })).toEqual({
    kind: 'contacts',
    body: { type: 'contacts', contacts },
  });
});

test.each([
  ['no card', [], 'missing required fields: contacts'],
  ['too many cards', Array(258).fill(CARD), 'contacts must have at most 257 items'],
  ...[
    {},
    { name: null },
    { name: 'Bo' },
    { name: { first_name: 'Bo' } },
    { name: { formatted_name: 7 } },
    { name: { formatted_name: ' ' } },
  ].map((card): [string, object[], string] => [
    `a card ${JSON.stringify(card)}`,
    [CARD, card],
    'missing required fields: contacts[1].name.formatted_name',
  ]),
])('refuses %s', (_what, contacts, message) => {
  expect(() => contactsContent({ contacts })).toThrow(message);
});
