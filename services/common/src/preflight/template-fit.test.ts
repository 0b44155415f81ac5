import { needsPhone, templateMisfit } from './template-fit';

const body = (text: string) => ({ type: 'BODY', text });
const inBody = (...parameters: object[]) => ({ type: 'body', parameters });
const sent = (...texts: unknown[]) => inBody(...texts.map((text) => ({ type: 'text', text })));
const code = (template: object[], components: unknown[]): number | null | undefined =>
  templateMisfit(template as never, components)?.upstream_code;

const ONE = [body('{{1}}')];
const ORDER = [body('Hi {{1}}, your order {{2}} is on its way.')];
const NAMED = [body('Hi {{first_name}} of {{shop}}.')];
const INVOICE = [
  { type: 'HEADER', format: 'DOCUMENT' },
  body('Your invoice {{1}}.'),
  { type: 'BUTTONS', buttons: [{ type: 'URL', url: 'https://example.org/{{1}}' }] },
];
const header = (type: string, file: object) => ({
  type: 'header',
  parameters: [{ type, [type]: file }],
});
const document = header('document', { link: 'https://example.org/a.pdf' });
const button = (sub_type = 'url') => ({
  ...{ type: 'button', sub_type, index: '0' },
  parameters: [{ type: 'text', text: '17' }],
});
const DOLLAR = { type: 'currency', currency: { fallback_value: '$1' } };
const named = (parameter_name: string) => ({ type: 'text', parameter_name, text: 'Ada' });

test.each<[string, object[], unknown[], number | undefined]>([
  ['all parameters', ORDER, [sent('Ada', 'A-17')], undefined],
  ['a repeated variable', [body('{{1}} and {{1}}')], [sent('Ada')], undefined],
  ['too few', ORDER, [sent('Ada')], 132_000],
  ['too many', [body('Hello')], [sent('Ada')], 132_000],
  ['no components', ORDER, [], 132_000],
  ['a blank text', ORDER, [sent('Ada', '')], 131_008],
  ['a text that is a number', ORDER, [sent('Ada', 17)], 131_009],
  ['an image in the body', ONE, [inBody({ type: 'image' })], 132_012],
  ['a currency with its fallback', ONE, [inBody(DOLLAR)], undefined],
  ['a line break in a parameter', ORDER, [sent('Hello Ada,\nyour order', 'A-17')], 100],
  ['a tab in a parameter', ORDER, [sent('Ada', 'A\t17')], 100],
  ['five spaces in a parameter', ORDER, [sent('Ada', 'A     17')], 100],
  ['four spaces in a parameter', ORDER, [sent('Ada', 'A    17')], undefined],
  ['a text that is too long', ONE, [sent('x'.repeat(1_025))], 132_005],
  ['named parameters', NAMED, [inBody(named('shop'), named('first_name'))], undefined],
  ['named parameters without names', NAMED, [sent('a', 'b')], 132_012],
  ['a complete document template', INVOICE, [document, sent('17'), button()], undefined],
  ['no header', INVOICE, [sent('17'), button()], 132_012],
  ['another header', INVOICE, [header('image', { id: '1' }), sent('17'), button()], 132_012],
  ['a header without a file', INVOICE, [header('document', {}), sent('17'), button()], 131_008],
  ['no button', INVOICE, [document, sent('17')], 131_008],
  ['another sub_type', INVOICE, [document, sent('17'), button('quick_reply')], 132_012],
  ['a button that does not exist', ORDER, [sent('a', 'b'), button()], 132_000],
  ['a component without a type', ORDER, [{ parameters: [] }], 100],
])('%s', (_name, template, components, expected) => {
  expect(code(template, components)).toBe(expected);
});

test('authentication templates with a one-time password button need a phone number', () => {
  const otp = [{ type: 'BUTTONS', buttons: [{ type: 'OTP' }] }];
  expect(needsPhone('AUTHENTICATION', otp)).toBe(true);
  expect(needsPhone('AUTHENTICATION', [])).toBe(false);
  expect(needsPhone('UTILITY', otp)).toBe(false);
});
