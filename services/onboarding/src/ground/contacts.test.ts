import { refusal } from '../../test/refusal';
import { checkEmail, contactsChange } from './contacts';

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
    refusal('INVALID_FIELD', { field: 'contacts.billing' }),
  );
});

describe('an address', () => {
  test.each([
    [' Ada@Example.COM ', 'ada@example.com'],
    ['ada.lovelace+work@mail.example.co.uk', 'ada.lovelace+work@mail.example.co.uk'],
    ['ada@bücher.example', 'ada@xn--bcher-kva.example'],
    ["o'hara@example.com", "o'hara@example.com"],
    ['zoe\u0308@example.com', 'zo\u00eb@example.com'],
  ])('%j is %s', (given, normal) => expect(checkEmail(given)).toBe(normal));

  test.each([
    'ada',
    '@example.com',
    'ada@',
    'ada@example',
    'ada@@example.com',
    'ada lovelace@example.com',
    'Ada <ada@example.com>',
    'ada@example.com, eve@example.com',
    'ada\n@example.com',
    'ada@exa mple.com',
    'ada@-example.com',
    'ada@203.0.113.7/x.com',
    `${'a'.repeat(65)}@example.com`,
    `ada@${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}.example.com`,
  ])('is not %j', (given) => {
    expect(() => checkEmail(given)).toThrow(refusal('INVALID_FIELD', { field: 'email' }));
  });

  test('is required', () => {
    expect(() => checkEmail(' \t')).toThrow(refusal('MISSING_FIELDS', { fields: ['email'] }));
  });
});
