import { MARKETS, marketOf } from './markets';

test.each([
  ['4915112345678', 'Germany'],
  ['US.4Qm7Zr81Kd02', 'North America'],
  ['DE.ENT.9Pt3Lw66Ha10', 'Germany'],
  ['15550100777', 'North America'],
  ['14165551234', 'North America'],
  ['18765551234', 'Rest of Latin America'],
  ['79161234567', 'Russia'],
  ['77011234567', 'Russia'],
  ['447911123456', 'United Kingdom'],
  ['60123456789', 'Malaysia'],
  ['3545811234', 'Other'],
  ['9999999', 'Other'],
])('%s belongs to %s', (recipient, market) => {
  expect(marketOf(recipient)).toBe(market);
  expect(MARKETS).toContain(market);
});
