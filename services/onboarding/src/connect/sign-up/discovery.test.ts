import type { ApiError } from '@bmg/common/errors';
import { chooseAccount, chooseSignedUpNumber } from './discovery';

const grant = (target_ids?: unknown) => ({
  granular_scopes: [
    { scope: 'whatsapp_business_messaging', target_ids: ['another'] },
    { scope: 'whatsapp_business_management', ...(target_ids !== undefined && { target_ids }) },
  ],
});

/** The choice, or the code of the refusal. */
const outcomeOf = (choose: () => string): string => {
  try {
    return choose();
  } catch (error) {
    return (error as ApiError).code;
  }
};

test.each<[what: string, grant: object, claim: string | undefined, outcome: string]>([
  ['the newest one that the token was granted', grant(['2', '1']), undefined, '2'],
  ['the one that the browser claims, if the token covers it', grant(['2', '1']), '1', '1'],
  ['none that the token does not cover', grant(['2', '1']), '3', 'DISCOVERY_FAILED'],
  ['the claim, if the token lists no accounts', grant(), '3', '3'],
  ['none without a list and a claim', grant(), undefined, 'DISCOVERY_FAILED'],
  ['none of an empty grant', grant([]), '3', 'DISCOVERY_FAILED'],
  ['none without the right to manage accounts', { granular_scopes: [] }, '3', 'DISCOVERY_FAILED'],
  ['none without any scope', {}, '3', 'DISCOVERY_FAILED'],
  ['a text, if the ID is a number', grant([7]), undefined, '7'],
])('the account of a sign-up is %s', (_what, granted, claim, outcome) => {
  expect(outcomeOf(() => chooseAccount(granted, claim))).toBe(outcome);
});

const CLOUD = { id: 'cloud', is_on_biz_app: false };
const NUMBERS = [CLOUD, { id: 'app', is_on_biz_app: true }, { id: 'other', is_on_biz_app: true }];

test.each<[what: string, numbers: typeof NUMBERS, claim: string | undefined, outcome: string]>([
  ['the one that the browser claims', NUMBERS, 'cloud', 'cloud'],
  ['not the claim if it is of another account', NUMBERS, 'foreign', 'app'],
  ['otherwise the first in use in the business app', NUMBERS, undefined, 'app'],
  ['otherwise the first', [CLOUD], undefined, 'cloud'],
  ['none if the account has none', [], 'any', 'DISCOVERY_FAILED'],
])('the number of a sign-up is %s', (_what, numbers, claim, outcome) => {
  expect(outcomeOf(() => chooseSignedUpNumber(numbers, claim))).toBe(outcome);
});
