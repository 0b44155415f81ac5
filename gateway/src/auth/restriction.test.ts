// What the restriction of an API key allows. test/e2e/keys.e2e.test.ts covers every route on the
// wire.
import { KEY_SCOPES, type KeyScope } from '@bmg/common/keys';
import type { KeyRestriction } from '@bmg/proto/onboarding';
import { rowOf } from '../../../test/contract/rows';
import type { Endpoint, Fields, Scope } from '../endpoints/endpoint';
import {
  checkAccounts,
  checkEvents,
  isExpired,
  refusalOf,
  restrictionOfPerson,
} from './restriction';

const ADDRESS = '203.0.113.7';
const restriction = (given: Partial<KeyRestriction> = {}): KeyRestriction => ({
  key_id: 'key_1',
  scopes: [...KEY_SCOPES],
  waba_ids: [],
  addresses: [],
  ...given,
});

describe('a request', () => {
  const row = { verb: 'POST', key_scope: 'send' } as const;

  test('of the partner key is allowed everything', () => {
    expect(refusalOf(undefined, row, 'unknown')).toBeUndefined();
    expect(isExpired(undefined, Date.now())).toBe(false);
  });

  test.each(KEY_SCOPES)('of a key with the scope %s only is allowed by its own scope', (scope) => {
    const refusal = refusalOf(restriction({ scopes: [scope] }), row, ADDRESS);
    if (scope === 'send') expect(refusal).toBeUndefined();
    else expect(refusal).toMatchObject({ code: 'SCOPE_MISSING', details: { scope: 'send' } });
  });

  test('of a person is allowed by the scopes of the role, from any address', () => {
    const of = (scopes: string[]) => restrictionOfPerson({ person_id: 'per_1', scopes });
    expect(refusalOf(of(['send', 'read']), row, ADDRESS)).toBeUndefined();
    expect(refusalOf(of(['billing']), row, ADDRESS)).toMatchObject({
      code: 'SCOPE_MISSING',
      message: 'your role lacks the scope send',
      details: { scope: 'send' },
    });
    expect(refusalOf(of(['billing']), { ...row, any_scope: true }, ADDRESS)).toBeUndefined();
  });

  test('that only a person makes is refused to every key, and to a role without its scope', () => {
    const only = { verb: 'POST', key_scope: 'manage', person_only: true } as const;
    const required = { code: 'PERSON_REQUIRED', details: { roles: ['owner', 'developer'] } };
    expect(refusalOf(undefined, only, ADDRESS)).toMatchObject(required);
    expect(refusalOf(restriction(), only, ADDRESS)).toMatchObject(required);
    const of = (scopes: string[]) => restrictionOfPerson({ person_id: 'per_1', scopes });
    expect(refusalOf(of(['manage']), only, ADDRESS)).toBeUndefined();
    expect(refusalOf(of(['send', 'read']), only, ADDRESS)).toMatchObject({ code: 'SCOPE_MISSING' });
  });

  test('of a key with scopes that this release does not know is refused', () => {
    const refusal = refusalOf(restriction({ scopes: ['everything'] }), row, ADDRESS);
    expect(refusal).toMatchObject({ code: 'SCOPE_MISSING' });
  });

  test('from another address is refused, whatever the scope, and names the address', () => {
    const limited = restriction({ scopes: ['read'], addresses: ['203.0.113.0/24'] });
    expect(refusalOf(limited, { verb: 'GET' }, ADDRESS)).toBeUndefined();
    expect(refusalOf(limited, row, '198.51.100.1')).toMatchObject({
      code: 'ADDRESS_NOT_ALLOWED',
      http: 403,
      details: { address: '198.51.100.1' },
    });
  });

  test('is refused from the moment at which the key expires', () => {
    const limited = restriction({ expires_at: new Date(1_000) });
    expect([999, 1_000, 1_001].map((now) => isExpired(limited, now))).toEqual([false, true, true]);
  });
});

describe('a key that is limited to accounts', () => {
  const limited = restriction({ waba_ids: ['1', '2'] });
  const check =
    (scope: Scope, header?: string, params: Record<string, string> = {}) =>
    () =>
      checkAccounts(limited, { scope } as Endpoint, {
        headers: header === undefined ? {} : { 'x-waba-id': header },
        params,
      });

  test.each(['number', 'filter'] as const)(
    'may name its accounts if the row has scope %s',
    (scope) => {
      expect(check(scope, '2')).not.toThrow();
      for (const other of ['3', '../1', '1,2']) {
        expect(check(scope, other)).toThrow(
          expect.objectContaining({ code: 'WABA_NOT_REGISTERED' }),
        );
      }
      // A parameter of the path does not stand in for the header.
      for (const header of [undefined, ' ']) {
        expect(check(scope, header, { waba_id: '1' })).toThrow(
          expect.objectContaining({ code: 'MISSING_WABA' }),
        );
      }
    },
  );

  test('may name its accounts in a path', () => {
    expect(check('partner', undefined, { waba_id: '1' })).not.toThrow();
    expect(check('partner', '1', { waba_id: '3' })).toThrow(
      expect.objectContaining({ code: 'WABA_NOT_REGISTERED' }),
    );
  });

  test.each(['partner', 'session'] as const)('is refused by other rows of scope %s', (scope) => {
    expect(check(scope, '1')).toThrow(expect.objectContaining({ code: 'KEY_RESTRICTED' }));
  });

  test('is the only kind of key whose accounts are checked', () => {
    for (const scope of ['number', 'filter', 'partner', 'session'] as const) {
      const row = { scope } as Endpoint;
      expect(() => checkAccounts(restriction(), row, { headers: {}, params: {} })).not.toThrow();
    }
  });
});

describe('a request that hands events to an address', () => {
  const UPDATE = 'PATCH /webhook-endpoints/:endpoint_id';
  test.each<[string, Fields, boolean]>([
    ['POST /webhook-endpoints', {}, false],
    ['POST /webhook-shadows', {}, false],
    ['POST /events/replay', {}, false],
    [UPDATE, { url: 'https://shop.example' }, false],
    [UPDATE, { destination: { type: 'sqs' } }, false],
    [UPDATE, { events: null }, false],
    [UPDATE, { waba_ids: ['9'] }, false],
    [UPDATE, { phone_number_ids: null }, false],
    [UPDATE, { status: 'paused', description: 'x' }, true],
    ['DELETE /webhook-endpoints/:endpoint_id', {}, true],
    ['POST /keys', {}, true],
  ])('%s with %j needs the scope read: allowed without it %s', (name, body, allowed) => {
    const check = (scopes: KeyScope[]) => () =>
      checkEvents({ scopes: [...scopes] }, rowOf(name), body);
    expect(check(['manage', 'read'])).not.toThrow();
    expect(() => checkEvents(undefined, rowOf(name), body)).not.toThrow();
    const without = expect(check(['manage', 'send', 'billing']));
    if (allowed) without.not.toThrow();
    else
      without.toThrow(
        expect.objectContaining({ code: 'SCOPE_MISSING', details: { scope: 'read' } }),
      );
  });
});
