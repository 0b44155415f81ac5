import { HEADER_TYPES, MEDIA_TYPES, parseMimeType } from '@bmg/common/files';
import { isParentBsuid } from '@bmg/common/ids';
import { checkUrl, type UrlRefused } from '@bmg/common/outbound';
import { Ajv2020 } from 'ajv/dist/2020';
import fc from 'fast-check';
import { chapters } from '..';
import { buildOpenApi } from '../../openapi';
import { quotedMessageId } from '../messages/quote';
import * as rules from './rules';
import type { Schema } from './schema';

const patternOf = ({ pattern }: Schema): RegExp => new RegExp(pattern as string, 'u');
/** The document bounds the length as well. */
const LENGTH_MAX = 255;
const RUNS = 30;
const everyText = (rule: Schema, check: (text: string) => void): void => {
  const pattern = patternOf(rule);
  // The generator knows no look-ahead.
  const wider = new RegExp(pattern.source.replaceAll(/\(\?![^)]*\)/g, ''), 'u');
  const texts = fc
    .stringMatching(wider, { maxLength: LENGTH_MAX })
    .filter((text) => pattern.test(text));
  fc.assert(fc.property(texts, check), { numRuns: RUNS });
};

/**
 * A label in Punycode. A pattern cannot check that it decodes; the services refuse one that does
 * not.
 */
const PUNYCODE = /xn--/i;
const isUndecodable = (url: string): boolean => PUNYCODE.test(url) && !URL.canParse(url);

test('every origin that the document allows is one of a browser', () => {
  everyText(rules.origin, (origin) => {
    if (!isUndecodable(origin)) expect(new URL(origin).origin).toBe(origin);
  });
});

test.each([
  ['http://localhost:3000', true],
  ['https://shop.example.com', true],
  ['https://xn--mnchen-3ya.de:65535', true],
  ['https://xn--0.a', true],
  ['http://127.0.0.1:443', true],
  ['https://shop.example.com:65536', false],
  ['https://shop.example.com:443', false],
  ['http://shop.example.com:80', false],
  ['http://shop.example.com:080', false],
  ['https://SHOP.example.com', false],
  ['https://shop.example.com/', false],
  ['https://1.2.3', false],
])('%s is an origin: %s', (origin, expected) => {
  expect(patternOf(rules.origin).test(origin)).toBe(expected);
});

test('no URL of a file that the document allows is malformed', () => {
  everyText(rules.fileUrl, (url) => {
    if (isUndecodable(url)) return;
    try {
      checkUrl(url, { field: 'url', allowPrivate: false });
    } catch (error) {
      // The shape does not determine which hosts and ports are reachable.
      const { reason } = error as UrlRefused;
      expect(['bad_host', 'private_host', 'private_address', 'bad_port']).toContain(reason);
    }
  });
});

test.each([[Object.values(MEDIA_TYPES).flat()], [HEADER_TYPES]])(
  'every content type that the document allows is a supported one',
  (types) => {
    everyText(rules.fileType(types), (text) =>
      expect(types).toContain(parseMimeType(text)?.essence),
    );
  },
);

test('refuses a parent BSUID in a request to block users', () => {
  const { not } = rules.blocked;
  everyText(not as Schema, (text) => expect(isParentBsuid(text.trim())).toBe(true));
});

const document = buildOpenApi(chapters, { public_url: 'https://gateway.example.com' });
const ajv = new Ajv2020({ strict: false });
ajv.addSchema({ ...document, $id: 'https://gateway.example.com/openapi.json' });
const isValid = (name: string, body: object): boolean =>
  ajv.getSchema(`https://gateway.example.com/openapi.json#/components/schemas/${name}`)?.(
    body,
  ) as boolean;

const to = '15550100777';
const text = { to, text: 'Hello' };
const media = (type: string, more: object) => ({ to, type, media: { id: '1', ...more } });
const buttons = (type: string, count: number) => ({
  to,
  interactive: { type, action: { buttons: Array.from({ length: count }, () => ({})) } },
});
const rows = (type: string, count: number) => ({
  to,
  interactive: { type, action: { sections: [{}, { rows: Array(count).fill({}) }] } },
});
const broadcast = (contact: unknown) => ({
  name: 'News',
  template_name: 'news',
  template_language: 'en',
  contacts: [contact],
});
const params = (value: unknown) => broadcast({ recipient: to, params: value });

test.each<[string, string, object, boolean]>([
  ['an image', 'SendMediaRequest', media('image', {}), true],
  ['an image with a file name', 'SendMediaRequest', media('image', { filename: null }), false],
  ['a document with a file name', 'SendMediaRequest', media('document', { filename: 'a' }), true],
  ['3 reply buttons', 'SendInteractiveRequest', buttons('button', 3), true],
  ['4 reply buttons', 'SendInteractiveRequest', buttons('button', 4), false],
  ['4 buttons of another type', 'SendInteractiveRequest', buttons('flow', 4), true],
  ['10 rows', 'SendInteractiveRequest', rows('list', 10), true],
  ['11 rows', 'SendInteractiveRequest', rows('list', 11), false],
  [
    'an action of another shape',
    'SendInteractiveRequest',
    { to, interactive: { type: 'list', action: [] } },
    true,
  ],
  ['a blank quote', 'SendTextRequest', { ...text, reply_to: ' ' }, false],
  [
    'a quote that is no text',
    'SendTextRequest',
    { ...text, context: { message_id: 'a' }, reply_to: 1 },
    false,
  ],
  [
    'a blank quote beside a context',
    'SendTextRequest',
    { ...text, context: { message_id: 'a' }, reply_to: '' },
    true,
  ],
  [
    'a long quote beside another',
    'SendTextRequest',
    { ...text, context_message_id: 'a', reply_to: 'a'.repeat(600) },
    true,
  ],
  ['no quote', 'SendTextRequest', { ...text, context: null, reply_to: null }, true],
  [
    'params of all kinds',
    'CreateBroadcastRequest',
    params({ 1: 'a', b: 2, c: true, d: { type: 'currency' } }),
    true,
  ],
  ['params in order', 'CreateBroadcastRequest', params(['a', 1]), true],
  ['no params', 'CreateBroadcastRequest', params(null), true],
  ['a blank param', 'CreateBroadcastRequest', params(['']), false],
  ['a param without a type', 'CreateBroadcastRequest', params([{}]), false],
  ['a key that names no variable', 'CreateBroadcastRequest', params({ '0': 'a' }), false],
  ['101 params', 'CreateBroadcastRequest', params(Array(101).fill('a')), false],
  ['a contact under to', 'CreateBroadcastRequest', broadcast({ to: 'x' }), false],
  ['a number under user_id', 'CreateBroadcastRequest', broadcast({ user_id: to }), false],
  ['contacts of a check of any type', 'CheckMessageRequest', { contacts: [[null]] }, true],
  ['no contacts of a check', 'CheckMessageRequest', { contacts: [] }, false],
])('the document decides %s of %s as the services do', (_what, name, body, expected) => {
  expect(isValid(name, body)).toBe(expected);
});

test('a quote that is no text is refused even if context wins over it', () => {
  const context = { message_id: 'wamid.1' };
  expect(quotedMessageId({ context, reply_to: '' })).toBe('wamid.1');
  expect(() => quotedMessageId({ context, reply_to: 1 })).toThrow(
    expect.objectContaining({ code: 'INVALID_PAYLOAD', details: { field: 'reply_to' } }),
  );
});
