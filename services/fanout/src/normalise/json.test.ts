import { isLosslessNumber } from 'lossless-json';
import { parseUpstream, stringifyData } from './index';

function roundTrip(text: string): string {
  const { body, lossless } = parseUpstream(text);
  return stringifyData(body, lossless);
}

describe('reading bytes', () => {
  test('ordinary bodies take the fast path, as bytes or as text', () => {
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
  ])('no digit of %s is lost', (text) => {
    expect(roundTrip(text).replaceAll(' ', '')).toBe(text.replaceAll(' ', ''));
    expect(parseUpstream(text).lossless).toBe(true);
  });

  test('digits inside strings do not cost the fast path', () => {
    const texts = ['order 12345678901234567890', 'say \\" 12345678901234567890', '\\\\'];
    for (const text of texts) expect(parseUpstream(`{"a":"${text}","b":1}`).lossless).toBe(false);
  });

  test('an exact body still holds plain numbers where they are exact', () => {
    const { body } = parseUpstream('[1790000000,90071992547409931234]');
    const [plain, exact] = body as unknown[];
    expect(plain).toBe(1_790_000_000);
    expect(isLosslessNumber(exact)).toBe(true);
  });

  test('both parsers let the last of two equal keys count', () => {
    expect(roundTrip('{"a":1,"a":2}')).toBe('{"a":2}');
    expect(roundTrip('{"a":1,"a":90071992547409931234}')).toBe('{"a":90071992547409931234}');
  });

  test('a key named __proto__ stays a key', () => {
    for (const number of ['1', '90071992547409931234']) {
      const text = `{"__proto__":{"polluted":${number}}}`;
      expect(roundTrip(text)).toBe(text);
      expect(Object.getPrototypeOf(parseUpstream(text).body)).toBe(Object.prototype);
    }
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

describe('refusing bytes', () => {
  test.each(['', '{', '{"a":}', 'nonsense', '{"a":1}}', '{"a":"\n"}', '[01]', '[1,]', '[9e]', '"'])(
    'what is no JSON is refused: %j',
    (text) => expect(() => parseUpstream(text)).toThrow('the body is not valid JSON'),
  );

  test('the reason does not quote the body', () => {
    expect(() => parseUpstream('{"text": secret}')).toThrow(/^the body is not valid JSON$/);
    expect(() => parseUpstream('{"n":90071992547409931234,"text": secret}')).toThrow(
      /^the body is not valid JSON$/,
    );
  });

  test('64 levels are read, 65 are refused', () => {
    const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
    expect(() => parseUpstream(nested(64))).not.toThrow();
    expect(() => parseUpstream(nested(65))).toThrow('nested deeper than 64 levels');
  });

  test('a million levels are refused without exhausting the stack', () => {
    const levels = 1_000_000;
    expect(() => parseUpstream('['.repeat(levels))).toThrow('nested deeper');
    expect(() => parseUpstream('{"a":'.repeat(levels))).toThrow('nested deeper');
  });

  test('brackets inside strings are no nesting', () => {
    const text = JSON.stringify({ text: `${'['.repeat(100)}"\\"${'{'.repeat(100)}` });
    expect(parseUpstream(text).lossless).toBe(false);
  });
});

test('there is always a text, also for what JSON cannot say', () => {
  expect(stringifyData(undefined, false)).toBe('null');
  expect(stringifyData(undefined, true)).toBe('null');
});
