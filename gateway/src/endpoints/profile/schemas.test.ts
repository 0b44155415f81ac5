import { updateProfile } from './schemas';
import { compile } from '../parts/schema';

const take = compile(updateProfile, 'body');

test.each([
  [{ about: 5 }, 'about'],
  [{ address: null }, 'address'],
  [{ email: ['hi@example.org'] }, 'email'],
  [{ websites: 'https://example.org' }, 'websites'],
  [{ websites: ['https://example.org', 'example.org'] }, 'websites[1]'],
  [{ websites: ['ftp://example.org'] }, 'websites[0]'],
])('rejects %j', (body, field) => {
  expect(() => take(body)).toThrow(
    expect.objectContaining({ code: 'INVALID_FIELD', details: { field } }),
  );
});

test('accepts empty values and unknown keys', () => {
  const body = { about: 'Plants', address: '', websites: [], color: 'red' };
  expect(take(structuredClone(body))).toEqual(body);
});
