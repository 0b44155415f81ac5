import { createLead, inFlightMax, limitOf, windowOf } from './pace';

test.each([
  [{ is_on_biz_app: true }, 20],
  [{ is_on_biz_app: true, throughput_level: 'HIGH' }, 20],
  [{ is_on_biz_app: false }, 80],
  [{ is_on_biz_app: false, throughput_level: 'STANDARD' }, 80],
  [{ is_on_biz_app: false, throughput_level: 'HIGH' }, 1_000],
])('a number with %j takes %d a second', (facts, limit) => {
  expect(limitOf(facts)).toBe(limit);
});

test('a window is a fifth of a second, and at least one message', () => {
  expect([0.1, 19, 76, 950].map((rate) => windowOf(rate))).toEqual([1, 4, 15, 190]);
});

test('a window grows with the time that marking takes', () => {
  expect([25, 100, 400, 800].map((lead) => windowOf(76, lead))).toEqual([15, 15, 46, 91]);
});

test('the limit of sends in flight grows with the rate, within bounds', () => {
  expect([1, 19, 76, 950].map(inFlightMax)).toEqual([16, 95, 380, 2_000]);
});

test('the lead follows how long marking takes, within bounds', () => {
  const lead = createLead();
  expect(lead.ms()).toBe(25);
  for (let at = 0; at < 50; at += 1) lead.took(60);
  expect(lead.ms()).toBeCloseTo(120, 0);
  for (let at = 0; at < 50; at += 1) lead.took(5_000);
  expect(lead.ms()).toBe(800);
  for (let at = 0; at < 100; at += 1) lead.took(1);
  expect(lead.ms()).toBe(25);
});
