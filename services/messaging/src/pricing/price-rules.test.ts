import { billingOf, type PriceFacts } from './price-rules';

const BEFORE = new Date('2026-09-30T23:59:59Z');
const AFTER = new Date('2026-10-01T00:00:00Z');
const billable = (facts: Partial<PriceFacts>): boolean | null =>
  billingOf({ category: 'service', at: AFTER, window: 'open', entry_point: 'closed', ...facts })
    .billable;

test.each<[string, Partial<PriceFacts>, boolean | null, boolean | null]>([
  ['a reply in an open window', {}, false, true],
  ['a utility template in an open window', { category: 'utility' }, false, true],
  ['a utility template outside it', { category: 'utility', window: 'closed' }, true, true],
  ['a utility template, window unknown', { category: 'utility', window: 'unknown' }, null, true],
  ['a marketing template', { category: 'marketing' }, true, true],
  ['an authentication template', { category: 'authentication' }, true, true],
  [
    'marketing to a customer from an ad',
    { category: 'marketing', entry_point: 'open' },
    false,
    false,
  ],
  ['a reply to a customer from an ad', { entry_point: 'open' }, false, false],
  ['a category without a rule', { category: 'group_service' }, null, null],
])('%s: billable before the change and after it', (_name, facts, before, after) => {
  expect([billable({ ...facts, at: BEFORE }), billable({ ...facts, at: AFTER })]).toEqual([
    before,
    after,
  ]);
});
