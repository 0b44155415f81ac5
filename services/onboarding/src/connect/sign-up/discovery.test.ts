import type { ApiError } from '@bmg/common/errors';
import { chooseAccount, chooseSignedUpNumber } from './discovery';

const grant = (target_ids?: unknown) => ({
  granular_scopes: [
    { scope: 'whatsapp_business_messaging', target_ids: ['another'] },
    { scope: 'whatsapp_business_management', ...(target_ids !== undefined && { target_ids }) },
  ],
});

const codeOf = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    return (error as ApiError).code;
  }
  return 'none';
};

describe('the account of a sign-up', () => {
  it('is the newest one that the token was granted', () => {
    expect(chooseAccount(grant(['2', '1']), undefined)).toBe('2');
  });

  it('is the one that the browser claims, if the token covers it', () => {
    expect(chooseAccount(grant(['2', '1']), '1')).toBe('1');
  });

  it('is refused if the token does not cover the browser’s claim', () => {
    expect(codeOf(() => chooseAccount(grant(['2', '1']), '3'))).toBe('DISCOVERY_FAILED');
  });

  it('falls back to the claim if the token lists no accounts', () => {
    expect(chooseAccount(grant(), '3')).toBe('3');
    expect(codeOf(() => chooseAccount(grant(), undefined))).toBe('DISCOVERY_FAILED');
  });

  it('is refused if the token lists an empty grant', () => {
    expect(codeOf(() => chooseAccount(grant([]), '3'))).toBe('DISCOVERY_FAILED');
  });

  it('is refused if the token may not manage accounts', () => {
    expect(codeOf(() => chooseAccount({ granular_scopes: [] }, '3'))).toBe('DISCOVERY_FAILED');
    expect(codeOf(() => chooseAccount({}, '3'))).toBe('DISCOVERY_FAILED');
  });

  it('turns numeric IDs into text', () => {
    expect(chooseAccount(grant([7]), undefined)).toBe('7');
  });
});

describe('the number of a sign-up', () => {
  const numbers = [
    { id: 'cloud', is_on_biz_app: false },
    { id: 'app', is_on_biz_app: true },
    { id: 'other', is_on_biz_app: true },
  ];

  it('is the one that the browser claims, if it belongs to the account', () => {
    expect(chooseSignedUpNumber(numbers, 'cloud')).toBe('cloud');
    expect(chooseSignedUpNumber(numbers, 'foreign')).toBe('app');
  });

  it('is otherwise the first in use in the business app', () => {
    expect(chooseSignedUpNumber(numbers, undefined)).toBe('app');
  });

  it('is otherwise the first', () => {
    expect(chooseSignedUpNumber([{ id: 'cloud', is_on_biz_app: false }], undefined)).toBe('cloud');
  });

  it('is refused if the account has none', () => {
    expect(codeOf(() => chooseSignedUpNumber([], 'any'))).toBe('DISCOVERY_FAILED');
  });
});
