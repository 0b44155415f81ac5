import { phone, readPlain } from '../../test/builders';
import { Template } from '@bmg/proto/templates';
import { createFiller } from './params';
import { validateContacts, factsOf, statusError } from './rules';

const ORDER = { name: 'order', language: 'en_US' };

const facts = (overrides: object = {}) => {
  const components = [{ type: 'BODY', text: 'Hi {{1}}, {{2}} and {{1}}.' }];
  const template = Template.create({
    ...{ status: 'APPROVED', category: 'UTILITY', components },
    ...overrides,
  });
  return factsOf({ template, languages: ['en_US'] }, ORDER);
};

test('returns the distinct variables of an approved template', () => {
  expect(facts()).toEqual({ authentication: false, variables: ['1', '2'] });
});

test('does not check variables of templates with other parts', () => {
  const components = [
    { type: 'BODY', text: 'Hi {{1}}' },
    { type: 'CAROUSEL', cards: [] },
  ];
  expect(facts({ components })).toEqual({ authentication: false, variables: undefined });
});

test.each([
  ['no template at all', factsOf({ languages: [] }, ORDER), 132_001],
  ['another language', factsOf({ languages: ['ms'] }, ORDER), 132_001],
  ['one that waits for approval', facts({ status: 'PENDING' }), 132_001],
  ['a rejected one', facts({ status: 'REJECTED' }), 132_001],
  ['a paused one', facts({ status: 'PAUSED' }), 132_015],
  ['a disabled one', facts({ status: 'DISABLED' }), 132_016],
])('%s gives the upstream’s error', (_what, error, upstream_code) => {
  expect(error).toMatchObject({
    code: 'UPSTREAM_ERROR',
    http: 502,
    upstream_code,
    retryable: false,
  });
});

test('an unknown status counts as not approved', () => {
  expect(statusError('order', 'LIMIT_EXCEEDED')).toMatchObject({ upstream_code: 132_001 });
});

const plain = createFiller([]);

test('an authentication template requires a phone number', async () => {
  const facts = { authentication: true, variables: undefined };
  const phones = await readPlain([{ recipient: phone(1) }]);
  const mixed = await readPlain([{ recipient: phone(1) }, { recipient: 'US.4Qm7Zr81Kd02' }]);
  expect(() => validateContacts(facts, phones, plain)).not.toThrow();
  expect(() => validateContacts(facts, mixed, plain)).toThrow(
    expect.objectContaining({
      code: 'AUTH_TEMPLATE_NEEDS_PHONE',
      upstream_code: 131_062,
      retryable: false,
    }),
  );
});

test('names the contact that does not fill the body by its place in the request', async () => {
  const facts = { authentication: false, variables: ['1', '2'] };
  const read = await readPlain([
    {},
    { recipient: phone(1), params: { '1': 'a', '2': 'b' } },
    { recipient: phone(1) },
    { recipient: phone(2), params: { '1': 'a' } },
  ]);
  expect(() => validateContacts(facts, read, plain)).toThrow(
    expect.objectContaining({
      code: 'INVALID_FIELD',
      details: { field: 'contacts[3].params', variables: ['1', '2'] },
    }),
  );
});
