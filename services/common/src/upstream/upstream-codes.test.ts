import fc from 'fast-check';
import { upstreamError } from './upstream-codes';

const detailsOf = (error_data: unknown, secrets: string[] = []): unknown =>
  upstreamError({ code: 100, message: 'no', error_data }, secrets).details;

test('redacts a token in quotes, and keeps the rest of the details', () => {
  expect(detailsOf({ details: { header: 'Authorization: "Bearer abc"', at: 7 } })).toEqual({
    header: 'Authorization: "[redacted]"',
    at: 7,
  });
  expect(detailsOf('the token \\"Bearer abc\\" is invalid')).toBe(
    'the token \\"[redacted]" is invalid',
  );
});

test('redacts secrets in texts, keys and numbers', () => {
  expect(detailsOf({ 'pin 123456': 123456, list: ['a"b', null, true] }, ['123456', 'a"b'])).toEqual(
    {
      'pin [redacted]': '[redacted]',
      list: ['[redacted]', null, true],
    },
  );
});

test('answers the details of any error, without its secrets', () => {
  const secret = fc.string({ minLength: 4 }).filter((text) => !'[redacted]'.includes(text));
  const token = fc.constantFrom('Bearer abc', '"Bearer abc"', 'EAAabcd12341', 'access_token=x"');
  const value = fc.jsonValue({ maxDepth: 3 });
  fc.assert(
    fc.property(
      value,
      fc.array(secret, { maxLength: 2 }),
      token,
      fc.string(),
      (any, secrets, credential, text) => {
        const data = { any, [text + credential]: [credential + text, ...secrets] };
        const shown = JSON.stringify(detailsOf(data, secrets));
        expect(JSON.parse(shown)).toHaveProperty('any');
        expect(shown).not.toMatch(/Bearer abc|EAAabcd12341|access_token=/);
        for (const one of secrets)
          expect((JSON.parse(shown) as { any: unknown }).any).not.toBe(one);
      },
    ),
  );
});

test('passes details without secrets on unchanged', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
      fc.pre(!/bearer\s|EAA|_(token|secret)=/i.test(JSON.stringify(value)));
      expect(detailsOf({ details: value })).toEqual(value);
    }),
  );
});
