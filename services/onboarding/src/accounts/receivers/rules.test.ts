import { fieldOf } from '../../../test/refusal';
import { checkLine } from '../../ground/texts';
import { checkEvents, checkHeaders, checkNumbers, DESCRIPTION_MAX } from './rules';

const many = (count: number): string[] =>
  Array.from({ length: count }, (_one, index) => `${index}`);

test('names of headers are stored in lower case', () => {
  expect(checkHeaders({ 'X-Token': 'a b', authorization: 'Bearer x' })).toEqual({
    'x-token': 'a b',
    authorization: 'Bearer x',
  });
});

test.each([
  'connection',
  'Keep-Alive',
  'transfer-encoding',
  'te',
  'trailer',
  'upgrade',
  'proxy-authorization',
  'host',
  'content-length',
  'Content-Type',
  'user-agent',
  'traceparent',
  'webhook-id',
  'Webhook-Signature',
  'webhook-timestamp',
  'x-service-signature',
  'ce-id',
  'x a',
  'x:a',
  'x\na',
  'ä',
  '',
  'x'.repeat(65),
])('the header name %j is refused', (name) => {
  expect(fieldOf(() => checkHeaders({ [name]: 'value' }))).toBe(`headers.${name.slice(0, 64)}`);
});

test.each(['', ' a', 'a ', 'a\r\nb: c', 'a\nb', 'a\u0000', 'é', 'x'.repeat(1_025)])(
  'the header value %j is refused and not repeated',
  (value) => {
    expect(fieldOf(() => checkHeaders({ 'x-a': value }))).toBe('headers.x-a');
    if (value.length < 3) return;
    expect(() => checkHeaders({ 'x-a': value })).not.toThrow(value);
  },
);

test('the same header in two spellings, and an eleventh header, are refused', () => {
  expect(fieldOf(() => checkHeaders({ 'x-a': '1', 'X-A': '2' }))).toBe('headers.X-A');
  const eleven = Object.fromEntries(many(11).map((name) => [`x-${name}`, 'v']));
  expect(fieldOf(() => checkHeaders(eleven))).toBe('headers');
});

test('filters have each entry once, and bounds', () => {
  expect(checkEvents(['a.b', 'a.b'])).toEqual(['a.b']);
  expect(checkNumbers(['1', '2', '1'])).toEqual(['1', '2']);
  expect(fieldOf(() => checkEvents(many(51)))).toBe('events');
  expect(fieldOf(() => checkNumbers(many(101)))).toBe('phone_number_ids');
});

test('a description is trimmed; a long one and one with control characters are refused', () => {
  const check = (text: string): string => checkLine('description', text, DESCRIPTION_MAX);
  expect(check(' CRM ')).toBe('CRM');
  expect(fieldOf(() => check('x'.repeat(201)))).toBe('description');
  expect(fieldOf(() => check('a\u0007'))).toBe('description');
});
