import { refusal } from '../../../test/refusal';
import {
  checkAddresses,
  checkExpiry,
  checkKeyAccounts,
  checkName,
  checkScopes,
  checkWithin,
  type Grant,
} from './rules';

const NOW = new Date('2026-09-01T12:00:00Z');
const later = (minutes: number): Date => new Date(NOW.getTime() + minutes * 60_000);
describe('a new key', () => {
  test('has a name, without blanks around it', () => {
    expect(checkName('  Order system ')).toBe('Order system');
    expect(() => checkName(' \t')).toThrow(refusal('MISSING_FIELDS'));
    for (const name of ['x'.repeat(101), 'a\nb', 'a\u0000b']) {
      expect(() => checkName(name)).toThrow(refusal('INVALID_FIELD', { field: 'name' }));
    }
  });

  test('has at least one known scope, each once', () => {
    expect(checkScopes(['billing', 'send', 'send'])).toEqual(['send', 'billing']);
    expect(() => checkScopes([])).toThrow(refusal('MISSING_FIELDS'));
    expect(() => checkScopes(['send', 'admin'])).toThrow(
      refusal('INVALID_FIELD', { field: 'scopes[1]' }),
    );
  });

  test('is limited to accounts of its partner, or to none', () => {
    expect(checkKeyAccounts([], ['1'])).toBeNull();
    expect(checkKeyAccounts(['2', '1', '2'], ['1', '2'])).toEqual(['2', '1']);
    expect(() => checkKeyAccounts(['1', '3'], ['1', '2'])).toThrow(
      refusal('INVALID_FIELD', { field: 'waba_ids[1]' }),
    );
    expect(() => checkKeyAccounts(Array<string>(101).fill('1'), ['1'])).toThrow(
      refusal('INVALID_FIELD', { field: 'waba_ids' }),
    );
  });

  test('is limited to addresses, or to none', () => {
    expect(checkAddresses([])).toBeNull();
    expect(checkAddresses(['2001:DB8::/32', '203.0.113.7'])).toEqual([
      '2001:db8::/32',
      '203.0.113.7',
    ]);
    expect(() => checkAddresses(['203.0.113.7', 'office'])).toThrow(
      refusal('INVALID_FIELD', { field: 'addresses[1]' }),
    );
    expect(() => checkAddresses(Array<string>(51).fill('203.0.113.7'))).toThrow(
      refusal('INVALID_FIELD', { field: 'addresses' }),
    );
  });

  test('expires in the future, or not', () => {
    expect(checkExpiry(undefined, NOW)).toBeNull();
    expect(checkExpiry(later(1), NOW)).toEqual(later(1));
    for (const time of [NOW, later(-1)]) {
      expect(() => checkExpiry(time, NOW)).toThrow(
        refusal('INVALID_FIELD', { field: 'expires_at' }),
      );
    }
  });
});

describe('what a key grants to another', () => {
  const all: Grant = {
    scopes: ['send', 'read'],
    waba_ids: null,
    addresses: null,
    expires_at: null,
  };
  const limited: Grant = {
    scopes: ['send', 'manage'],
    waba_ids: ['1', '2'],
    addresses: ['203.0.113.0/24'],
    expires_at: later(60),
  };
  const within: Grant = {
    scopes: ['send'],
    waba_ids: ['2'],
    addresses: ['203.0.113.128/25', '203.0.113.1'],
    expires_at: later(60),
  };

  test('may be all that it has', () => {
    expect(() => checkWithin(limited, limited)).not.toThrow();
    expect(() => checkWithin(limited, within)).not.toThrow();
    expect(() => checkWithin(all, { ...within, scopes: ['read'] })).not.toThrow();
  });

  test('is no further scope', () => {
    expect(() => checkWithin(limited, { ...within, scopes: ['send', 'billing'] })).toThrow(
      refusal('SCOPE_MISSING', { scope: 'billing' }),
    );
  });

  test.each<[string, Partial<Grant>]>([
    ['addresses', { addresses: null }],
    ['addresses', { addresses: ['203.0.113.1', '198.51.100.0/24'] }],
    ['addresses', { addresses: ['203.0.0.0/16'] }],
    ['waba_ids', { waba_ids: null }],
    ['waba_ids', { waba_ids: ['1', '3'] }],
    ['expires_at', { expires_at: null }],
    ['expires_at', { expires_at: later(61) }],
  ])('is no wider %s: %j', (field, change) => {
    expect(() => checkWithin(limited, { ...within, ...change })).toThrow(
      refusal('INVALID_FIELD', { field }),
    );
  });
});
