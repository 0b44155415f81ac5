import { createHmac } from 'node:crypto';
import { fields, loadConfig } from '../config';
import { ApiError } from '../errors';
import { createPeppers, firstKnown, pepperFault } from './peppers';

const FORMER = 'a former, single: text';
const keyOf = (letter: string): string => Buffer.alloc(32, letter).toString('base64');
const ENTRY = { former: `:${Buffer.from(FORMER).toString('base64')}`, a: `a:${keyOf('a')}` };
const NEW = `2026-11:${keyOf('b')}`;
const ring = (...entries: string[]): string => entries.join(',');
const hmac = (secret: string | Buffer): string =>
  createHmac('sha256', secret).update('key').digest('base64url');

describe('hashes', () => {
  test('of a single text have no ID, as before', () => {
    expect(createPeppers(FORMER).hashes('key')).toEqual([hmac(FORMER)]);
  });

  test('of a ring begin with the ID of their key, and those of the former text do not change', () => {
    const newest = `2026-11.${hmac(Buffer.alloc(32, 'b'))}`;
    const former = hmac(FORMER);
    const peppers = createPeppers(ring(NEW, ENTRY.former, ENTRY.a));
    expect(peppers.hash('key')).toBe(newest);
    expect(peppers.hashes('key')).toEqual([newest, former, `a.${hmac(Buffer.alloc(32, 'a'))}`]);
    expect(createPeppers(ring(ENTRY.former, NEW)).hashes('key')).toEqual([former, newest]);
  });

  test.each([
    [ring(NEW, ENTRY.former), [true, false, false]],
    [ring(ENTRY.former, NEW), [false, true, false]],
    [ring(ENTRY.a, NEW), [false, false, true]],
  ])('of the newest pepper are known as such', (setting, expected) => {
    const peppers = createPeppers(setting);
    const stored = [NEW, FORMER, ENTRY.a].map((one) => createPeppers(one).hash('key'));
    expect(stored.map(peppers.isNewest)).toEqual(expected);
  });
});

describe('the setting', () => {
  const load = (KEY_PEPPER: string) =>
    loadConfig({ KEY_PEPPER: fields.secret('a pepper', { check: pepperFault }) }, { KEY_PEPPER })
      .config.KEY_PEPPER;

  test.each([
    FORMER,
    keyOf('a'),
    'short',
    'two,words',
    NEW,
    ring(NEW, ENTRY.a),
    ring(NEW, ENTRY.former),
    ring(ENTRY.former, NEW),
    ring(NEW, ENTRY.former, ENTRY.a),
  ])('may be %s', (value) => {
    expect(load(value)).toBe(value);
  });

  test.each([
    ['a key that is too short', 'a:YWJjZGVm'],
    ['a key that is too short, beside another', ring(NEW, 'a:YWJjZGVm')],
    ['a former text as it is', ring(NEW, FORMER)],
    ['a former text without a key', ENTRY.former],
    ['one ID twice', ring(ENTRY.a, NEW, `a:${keyOf('c')}`)],
    ['a trailing comma', `${NEW},`],
    ['an ID with a dot', ring(NEW, `a.b:${keyOf('c')}`)],
  ])('is refused by name, without its value: %s', (_name, value) => {
    expect(() => load(value)).toThrow(/KEY_PEPPER must be one text, or keys/);
    expect(() => load(value)).not.toThrow(value);
  });
});

describe('the first known hash', () => {
  const HASHES: [string, string, string] = ['newest', 'older', 'oldest'];
  const refusal = (hash: string): ApiError => new ApiError('UNAUTHORIZED', `${hash} is unknown`);

  test.each(HASHES)('is found: %s', async (stored) => {
    const lookUp = async (hash: string): Promise<string> => {
      if (hash !== stored) throw refusal(hash);
      return `answer for ${hash}`;
    };
    expect(await firstKnown(HASHES, lookUp)).toBe(`answer for ${stored}`);
  });

  test('is the newest if none is known', async () => {
    const lookUp = (hash: string): Promise<string> => Promise.reject(refusal(hash));
    await expect(firstKnown(HASHES, lookUp)).rejects.toThrow('newest is unknown');
    const answer = await firstKnown(
      HASHES,
      async (hash) => hash,
      () => false,
    );
    expect(answer).toBe('newest');
  });

  test('is not looked for after another failure', async () => {
    const lookUp = jest.fn(() => Promise.reject(new ApiError('SERVICE_UNAVAILABLE', 'away')));
    await expect(firstKnown(HASHES, lookUp)).rejects.toThrow('away');
    expect(lookUp).toHaveBeenCalledTimes(1);
  });
});
