import { isLosslessNumber } from 'lossless-json';
import { parseUpstream, stringifyData } from './json';

function roundTrip(text: string): string {
  const { body, lossless } = parseUpstream(text);
  return stringifyData(body, lossless);
}

describe('parsing', () => {
  test('parses ordinary bodies on the fast path, as bytes or as text', () => {
    const text =
      '{"object":"x","entry":[{"id":"90000000000000000001","time":1790000000,"at":1.25}]}';
    expect(parseUpstream(text)).toEqual({ body: JSON.parse(text), lossless: false });
    expect(parseUpstream(Buffer.from(text))).toEqual({ body: JSON.parse(text), lossless: false });
  });

  test.each([
    ['{"id":90071992547409931234}'],
    ['[9007199254740993]'],
    ['[-9007199254740993]'],
    ['{"a":{"b":[1,2,{"c": 12345678901234567890123456789}]}}'],
    ['[0.12345678901234567890]'],
    ['[1e400,-1E-400,1.50e+2]'],
    ['90071992547409931234'],
  ])('keeps every digit of %s', (text) => {
    expect(roundTrip(text).replaceAll(' ', '')).toBe(text.replaceAll(' ', ''));
    expect(parseUpstream(text).lossless).toBe(true);
  });

  test('stays on the fast path for digits inside strings', () => {
    const texts = ['order 12345678901234567890', 'say \\" 12345678901234567890', '\\\\'];
    for (const text of texts) expect(parseUpstream(`{"a":"${text}","b":1}`).lossless).toBe(false);
  });

  test('uses plain numbers where they are exact, even in the exact parser', () => {
    const { body } = parseUpstream('[1790000000,90071992547409931234]');
    const [plain, exact] = body as unknown[];
    expect(plain).toBe(1_790_000_000);
    expect(isLosslessNumber(exact)).toBe(true);
  });

  test('keeps the last of two equal keys in both parsers', () => {
    expect(roundTrip('{"a":1,"a":2}')).toBe('{"a":2}');
    expect(roundTrip('{"a":1,"a":90071992547409931234}')).toBe('{"a":90071992547409931234}');
  });

  test('treats __proto__ as an ordinary key', () => {
    for (const number of ['1', '90071992547409931234']) {
      const text = `{"__proto__":{"polluted":${number}}}`;
      expect(roundTrip(text)).toBe(text);
      expect(Object.getPrototypeOf(parseUpstream(text).body)).toBe(Object.prototype);
    }
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

describe('invalid bodies', () => {
  test.each(['', '{', '{"a":}', 'nonsense', '{"a":1}}', '{"a":"\n"}', '[01]', '[1,]', '[9e]', '"'])(
    'refuses invalid JSON: %j',
    (text) => expect(() => parseUpstream(text)).toThrow('the body is not valid JSON'),
  );

  test('does not quote the body in the error', () => {
    expect(() => parseUpstream('{"text": secret}')).toThrow(/^the body is not valid JSON$/);
    expect(() => parseUpstream('{"n":90071992547409931234,"text": secret}')).toThrow(
      /^the body is not valid JSON$/,
    );
  });

  test('accepts 64 levels of nesting and refuses 65', () => {
    const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
    expect(() => parseUpstream(nested(64))).not.toThrow();
    expect(() => parseUpstream(nested(65))).toThrow('nested deeper than 64 levels');
  });

  test('refuses a million levels without exhausting the stack', () => {
    const levels = 1_000_000;
    expect(() => parseUpstream('['.repeat(levels))).toThrow('nested deeper');
    expect(() => parseUpstream('{"a":'.repeat(levels))).toThrow('nested deeper');
  });

  test('does not count brackets inside strings as nesting', () => {
    const text = JSON.stringify({ text: `${'['.repeat(100)}"\\"${'{'.repeat(100)}` });
    expect(parseUpstream(text).lossless).toBe(false);
  });
});

test('serialises values outside JSON as null', () => {
  expect(stringifyData(undefined, false)).toBe('null');
  expect(stringifyData(undefined, true)).toBe('null');
});
