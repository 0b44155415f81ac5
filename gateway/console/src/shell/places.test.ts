import { MORE_SCREENS, namedPlaces, placeAt, placesWith } from './places';

test.each([
  ['wamid.HBgL', [['/messages', { open: 'wamid.HBgL' }]]],
  ['evt_8_kN', [['/events', { open: 'evt_8_kN' }]]],
  [
    '0b0c8a3e-5f1d-4c1e-9a52-3f1d2c4b5a69',
    [['/developers', { find: '0b0c8a3e-5f1d-4c1e-9a52-3f1d2c4b5a69' }]],
  ],
  ['#71', [['/broadcasts', { open: '71' }]]],
  [
    '+1 (555) 010-0777',
    [
      ['/messages/conversation', { find: '15550100777' }],
      ['/messages', { find: '15550100777' }],
    ],
  ],
  ['555-01', []],
  ['audit', []],
])('%s leads to its places', (text, places) => {
  expect(namedPlaces(text).map(({ to, search }) => [to, search])).toEqual(places);
});

test('knows the scope of each screen', () => {
  expect(placeAt('/')?.scope).toBe('read');
  expect(placeAt('/usage/ledger')?.scope).toBe('billing');
  expect(placeAt('/settings/receivers/$endpoint_id')?.scope).toBe('read');
  expect(placeAt('/nonsense')).toBeUndefined();
});

test('finds screens by the beginnings of their words, in any order', () => {
  const labels = (text: string) => placesWith(text, MORE_SCREENS).map(({ label }) => label);
  expect(labels('new')).toEqual(['New message', 'New broadcast']);
  expect(labels('log AUD')).toEqual(['Audit log']);
  expect(labels('dit')).toEqual([]);
});
