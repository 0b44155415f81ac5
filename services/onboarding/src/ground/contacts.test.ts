import { contactsChange } from './contacts';

test('each given address is stored in its normal form, and an empty one is removed', () => {
  expect(contactsChange(undefined)).toEqual({});
  expect(contactsChange({ billing: ' Bills@Example.com ' })).toEqual({
    'contacts.billing': 'bills@example.com',
  });
  expect(contactsChange({ technical: ' ', billing: '' })).toEqual({
    'contacts.technical': null,
    'contacts.billing': null,
  });
});

test('a wrong address is refused by the name of its field', () => {
  expect(() => contactsChange({ technical: 'a@example.com', billing: 'bills' })).toThrow(
    expect.objectContaining({ code: 'INVALID_FIELD', details: { field: 'contacts.billing' } }),
  );
});
