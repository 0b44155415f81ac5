import { KEY_SCOPES } from '../keys';
import { includesRole, isRole, mayApprove, relyingPartyOf, ROLES, ROLE_SCOPES } from './index';

test('each role has scopes of API keys, and an owner has all', () => {
  expect(ROLE_SCOPES.owner).toEqual(KEY_SCOPES);
  for (const role of ROLES) {
    expect(ROLE_SCOPES[role].length).toBeGreaterThan(0);
    expect(KEY_SCOPES).toEqual(expect.arrayContaining([...ROLE_SCOPES[role]]));
  }
  expect(['owner', 'admin', 'toString', ''].filter(isRole)).toEqual(['owner']);
});

test('owners and developers approve broadcasts', () => {
  expect(ROLES.filter(mayApprove)).toEqual(['owner', 'developer']);
});

test('a role includes another if it allows everything that the other allows', () => {
  const includes = (role: (typeof ROLES)[number]) => ROLES.filter((one) => includesRole(role, one));
  expect(includes('owner')).toEqual(ROLES);
  expect(includes('developer')).toEqual(['developer', 'support']);
  expect(includes('support')).toEqual(['support']);
  expect(includes('billing')).toEqual(['billing']);
});

test.each([
  ['https://gateway.example.com/base', 'gateway.example.com'],
  ['https://gateway.example.com:8443', 'gateway.example.com'],
  ['http://localhost:8080', 'localhost'],
])('passkeys at %s belong to %s', (public_url, id) => {
  expect(relyingPartyOf(public_url)).toEqual({ id, origin: new URL(public_url).origin });
});

test.each([
  'http://gateway.example.com',
  'https://203.0.113.7',
  'http://127.0.0.1:8080',
  'https://[::1]',
])('there are no passkeys at %s', (public_url) =>
  expect(relyingPartyOf(public_url)).toBeUndefined(),
);
