import { fieldOf } from '../../test/refusal';
import {
  checkConnectOrigins,
  checkReturnUrl,
  CONNECT_ORIGINS_MAX,
  refuseUnlessListed,
} from './partner-url';

const SHOP = 'https://shop.example.com';

describe('a list of origins', () => {
  test('keeps each origin once, and may be empty', () => {
    expect(checkConnectOrigins([SHOP, `${SHOP}:8443`, SHOP], false)).toEqual([
      SHOP,
      `${SHOP}:8443`,
    ]);
    expect(checkConnectOrigins([], false)).toEqual([]);
  });

  test.each([
    `${SHOP}/`,
    `${SHOP}/path`,
    `${SHOP}:443`,
    'https://Shop.example.com',
    'https://me@shop.example.com',
    'http://shop.example.com',
    'http://127.0.0.1:7001',
    'https://localhost',
    'shop.example.com',
    '*',
    '',
  ])('refuses %j and names it', (origin) => {
    expect(fieldOf(() => checkConnectOrigins([SHOP, origin], false))).toBe('connect_origins[1]');
  });

  test('has at most 20, and local ones only where private URLs are allowed', () => {
    const many = Array.from(
      { length: CONNECT_ORIGINS_MAX + 1 },
      (_none, at) => `${SHOP}:${at + 1024}`,
    );
    expect(fieldOf(() => checkConnectOrigins(many, false))).toBe('connect_origins');
    expect(checkConnectOrigins(['http://127.0.0.1:7001'], true)).toHaveLength(1);
  });
});

describe('a URL to which the page leads', () => {
  const check = (url: string, listed = [SHOP], allowPrivate = false) =>
    checkReturnUrl(url, { field: 'success_url', allowPrivate, listed });

  test('keeps its query and its fragment', () => {
    expect(check(`${SHOP}/done?a=1&b=%20#/step`)).toBe(`${SHOP}/done?a=1&b=%20#/step`);
  });

  test.each([
    'https://evil.example/done',
    `${SHOP}.evil.example/done`,
    `${SHOP}:8443/done`,
    'http://shop.example.com/done',
    `https://shop.example.com@evil.example/`,
    'javascript:alert(1)',
    '//shop.example.com/done',
    '/done',
    `${SHOP}/${'x'.repeat(2_048)}`,
  ])('is refused: %s', (url) => {
    expect(fieldOf(() => check(url))).toBe('success_url');
  });

  test('needs a list', () => {
    expect(fieldOf(() => check(`${SHOP}/done`, []))).toBe('success_url');
  });
});

test('the origin of the opener is checked against a list with entries only', () => {
  expect(fieldOf(() => refuseUnlessListed('origin', 'https://b.example', []))).toBe('none');
  expect(fieldOf(() => refuseUnlessListed('origin', SHOP, [SHOP]))).toBe('none');
  expect(fieldOf(() => refuseUnlessListed('origin', 'https://b.example', [SHOP]))).toBe('origin');
});
