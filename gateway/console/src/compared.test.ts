import { compare } from './compared';

test('lists the groups of both periods by their present size, without those empty in both', () => {
  const now = { utility: 2, service: 5, referral: 0 };
  expect(compare(now, { marketing: 4, utility: 1, referral: 0 })).toEqual([
    { name: 'service', now: 5, before: 0 },
    { name: 'utility', now: 2, before: 1 },
    { name: 'marketing', now: 0, before: 4 },
  ]);
});
