import { languageOf, needsPhone, statusAfter, templateMisfit } from './template-fit';

const body = (text: string) => ({ type: 'BODY', text });
const inBody = (...parameters: object[]) => ({ type: 'body', parameters });
const sent = (...texts: unknown[]) => inBody(...texts.map((text) => ({ type: 'text', text })));
const faultOf = (template: object[], components: unknown[]) => {
  const fault = templateMisfit(template as never, components);
  return fault && [fault.upstream_code, fault.message];
};

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
const filled = (type: string) => ({ type, [type]: { fallback_value: '$1' } });
const named = (parameter_name: string) => ({ type: 'text', parameter_name, text: 'Ada' });
const buttons = (...given: object[]) => [{ type: 'BUTTONS', buttons: given }];
const TITLE = [{ type: 'HEADER', text: 'For {{1}}' }];
const inHeader = (text: unknown) => ({ ...sent(text), type: 'HEADER' });
const UNFIT = 'of the body must not have a line break, a tab, or more than four spaces in a row';
const NO_TEXT = [132_012, 'parameter 1 of the body must be a text'];
const NEEDS_TYPE = [100, 'every component needs a type'];
const NO_DOCUMENT = [132_012, 'the header needs a parameter of type document'];
const NO_SOURCE = [131_008, 'the header’s document needs either id or link'];
const BOTH = { id: '1', link: 'https://example.org/a.pdf' };

test.each<[string, object[], unknown[]]>([
  ['all parameters', ORDER, [sent('Ada', 'A-17')]],
  ['a repeated variable', [body('{{1}} and {{1}}')], [sent('Ada')]],
  ['an amount with its fallback', ONE, [inBody(filled('currency'))]],
  ['a date with its fallback', ONE, [inBody(filled('date_time'))]],
  ['four spaces', ORDER, [sent('Ada', 'A    17')]],
  ['the longest text', ONE, [sent('x'.repeat(1_024))]],
  ['a text header', TITLE, [inHeader('Ada')]],
  ['named parameters', NAMED, [inBody(named('shop'), named('first_name'))]],
  ['a complete document template', INVOICE, [document, sent('17'), button()]],
  ['a place', [{ type: 'HEADER', format: 'LOCATION' }], [header('location', {})]],
  ['a one-time password', buttons({ type: 'OTP' }), [button()]],
  ['a button that needs nothing', buttons({ type: 'URL', url: 'https://example.org' }), []],
])('%s fits', (_name, template, components) => {
  expect(faultOf(template, components)).toBeUndefined();
});

test.each<[string, object[], unknown[], unknown[]]>([
  ['too few', ORDER, [sent('Ada')], [132_000, 'the body takes 2 parameters and gets 1']],
  ['too many', [body('Hello')], [sent('a')], [132_000, 'the body takes 0 parameters and gets 1']],
  ['no components', ORDER, [], [132_000, 'the body takes 2 parameters and gets 0']],
  ['a blank text', ORDER, [sent('Ada', '')], [131_008, 'parameter 2 of the body needs a text']],
  ['no text', ONE, [sent(null)], [131_008, 'parameter 1 of the body needs a text']],
  ['a number', ORDER, [sent('Ada', 17)], [131_009, 'parameter 2 of the body needs a text']],
  ['an image', ONE, [inBody({ type: 'image' })], NO_TEXT],
  ['a code', ONE, [inBody(filled('code'))], NO_TEXT],
  ['an amount without a fallback', ONE, [inBody({ type: 'currency' })], NO_TEXT],
  ['a line break', ORDER, [sent('Hello Ada,\nyour order', 'A')], [100, `parameter 1 ${UNFIT}`]],
  ['a tab', ORDER, [sent('Ada', 'A\t17')], [100, `parameter 2 ${UNFIT}`]],
  ['five spaces', ORDER, [sent('Ada', 'A     17')], [100, `parameter 2 ${UNFIT}`]],
  [
    'a longer text',
    [body('Hi {{1}}')],
    [sent('x'.repeat(1_022))],
    [132_005, 'the body is longer than 1024 characters'],
  ],
  [
    'a text header that is too long',
    TITLE,
    [inHeader('x'.repeat(57))],
    [132_005, 'the header is longer than 60 characters'],
  ],
  [
    'named parameters without names',
    NAMED,
    [sent('a', 'b')],
    [132_012, 'parameter 1 of the body needs a parameter_name: one of first_name, shop'],
  ],
  [
    'a name that the template does not have',
    NAMED,
    [inBody(named('shop'), named('age'))],
    [132_012, 'parameter 2 of the body needs a parameter_name: one of first_name, shop'],
  ],
  ['no header', INVOICE, [sent('17'), button()], NO_DOCUMENT],
  ['another header', INVOICE, [header('image', { id: '1' }), sent('17'), button()], NO_DOCUMENT],
  ['no file', INVOICE, [header('document', {}), sent('17'), button()], NO_SOURCE],
  ['two files', INVOICE, [header('document', BOTH), sent('17'), button()], NO_SOURCE],
  ['no button', INVOICE, [document, sent('17')], [131_008, 'button 0 needs a parameter']],
  [
    'a button without parameters',
    buttons({ type: 'OTP' }),
    [{ type: 'button', sub_type: 'url' }],
    [131_008, 'button 0 needs a parameter'],
  ],
  [
    'another sub_type',
    INVOICE,
    [document, sent('17'), button('quick_reply')],
    [132_012, 'button 0 needs the sub_type url'],
  ],
  [
    'a URL instead of a code to copy',
    buttons({ type: 'COPY_CODE' }),
    [button()],
    [132_012, 'button 0 needs the sub_type copy_code'],
  ],
  [
    'a button that does not exist',
    ORDER,
    [sent('a', 'b'), button()],
    [132_000, 'the template has no button 0'],
  ],
  ['a component without a type', ORDER, [{ parameters: [] }], NEEDS_TYPE],
  ['a component that is a text', ORDER, [sent('a', 'b'), 'body'], NEEDS_TYPE],
])('%s does not fit', (_name, template, components, expected) => {
  expect(faultOf(template, components)).toEqual(expected);
});

test('authentication templates with a one-time password button need a phone number', () => {
  const otp = buttons({ type: 'COPY_CODE' }, { type: 'OTP' });
  expect(needsPhone('AUTHENTICATION', otp as never)).toBe(true);
  expect(needsPhone('UTILITY', otp as never)).toBe(false);
  for (const other of [[], buttons({ type: 'COPY_CODE' }), [{ type: 'BUTTONS' }]]) {
    expect(needsPhone('AUTHENTICATION', other as never)).toBe(false);
  }
});

test('an event gives its status, or one that the upstream lists, or none', () => {
  const events = ['PAUSED', 'REINSTATED', 'UNARCHIVED', 'FLAGGED', 'LOCKED'];
  expect(events.map(statusAfter)).toEqual([
    ...['PAUSED', 'APPROVED', 'APPROVED'],
    ...[undefined, undefined],
  ]);
  expect(['pt-BR', 'pt_BR', 'de'].map(languageOf)).toEqual(['pt_BR', 'pt_BR', 'de']);
});
