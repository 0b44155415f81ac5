import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { fingerprint, hasKey, readKey } from './key';

const given = (key: string): IncomingHttpHeaders => ({ 'idempotency-key': key });
const SEND = { verb: 'POST', path: '/messages/send' } as const;
const WABA = { 'x-waba-id': '900000000000001' };
const BODY = { to: '15550100777', text: 'Hello', list: [1, 2], deep: { a: { b: 1, c: null } } };

describe('an Idempotency-Key', () => {
  test.each([
    ['one character', 'k'],
    ['a UUID', '8e03978e-40d5-43e8-bc93-6894a57f9324'],
    ['punctuation, quotes included', '"!~{}|:;<>'],
    ['255 characters', 'k'.repeat(255)],
  ])('may be %s', (_name, key) => {
    expect([hasKey(given(key)), readKey(given(key))]).toEqual([true, key]);
  });

  test.each([
    ['nothing', ''],
    ['256 characters', 'k'.repeat(256)],
    ['text with a space', 'a b'],
    ['text with a tab', 'a\tb'],
    ['two keys, as two headers arrive', 'first, second'],
    ['letters beyond ASCII', 'schl\u00fcssel'],
    ['a control character', 'a\u007fb'],
  ])('may not be %s', (_name, key) => {
    expect(hasKey(given(key))).toBe(true);
    expect(() => readKey(given(key))).toThrow(
      expect.objectContaining({
        code: 'INVALID_FIELD',
        message: 'Idempotency-Key must be 1 to 255 visible ASCII characters',
        details: { field: 'Idempotency-Key' },
      }) as Error,
    );
  });

  test('is absent without the header', () => {
    expect(hasKey({})).toBe(false);
  });
});

describe('the fingerprint', () => {
  const of = (
    change: Partial<{ body: object; params: Record<string, string>; headers: object; row: object }>,
  ): Promise<string> =>
    fingerprint(
      { ...SEND, ...change.row },
      {
        params: change.params ?? {},
        query: {},
        body: (change.body ?? BODY) as Record<string, unknown>,
      },
      { ...WABA, ...change.headers },
    );

  test('does not depend on the order of keys in the body', async () => {
    const { deep, list, text, to } = BODY;
    expect(await of({ body: { deep: { a: { c: null, b: 1 } }, text, list, to } })).toBe(
      await of({}),
    );
    expect(await of({ body: { to, list, deep, text } })).toBe(await of({}));
  });

  test('does not depend on headers that do not select the number', async () => {
    const headers = { 'x-request-id': 'r', 'user-agent': 'u', 'x-waba-id': ' 900000000000001 ' };
    expect(await of({ headers })).toBe(await of({}));
  });

  test('is the hash of the request as JSON with sorted keys', async () => {
    const sorted = [
      'POST',
      '/messages/send',
      {},
      ['900000000000001', ''],
      {},
      { deep: { a: { b: 1, c: null } }, list: [1, 2], text: 'Hello', to: '15550100777' },
    ];
    const hash = createHash('sha256').update(JSON.stringify(sorted)).digest('base64url');
    expect(await of({})).toBe(hash);
  });

  test('differs for another body, path parameter, number, path or verb', async () => {
    const all = await Promise.all([
      of({}),
      of({ body: { ...BODY, text: 'Hello ' } }),
      of({ body: { ...BODY, list: [2, 1] } }),
      of({ body: { ...BODY, list: ['1', 2] } }),
      of({ body: { ...BODY, deep: { a: { b: 1 } } } }),
      of({ body: { ...BODY, deep: { a: { b: 1, c: false } } } }),
      of({ params: { id: '1' } }),
      of({ headers: { 'x-waba-id': '900000000000002' } }),
      of({ headers: { 'x-phone-number-id': '800000000000001' } }),
      of({ row: { path: '/messages/template' } }),
      of({ row: { verb: 'PUT' } }),
    ]);
    expect(new Set(all).size).toBe(all.length);
  });
});
