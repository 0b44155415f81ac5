import { isSettling } from './settling';

test('a broadcast settles for ten minutes after its end, and not before it', () => {
  const completed_at = '2026-09-01T12:00:00.000Z';
  const at = (time: string) => isSettling({ completed_at }, Date.parse(time));
  expect(at('2026-09-01T12:09:59.000Z')).toBe(true);
  expect(at('2026-09-01T12:10:00.000Z')).toBe(false);
  expect(isSettling({ completed_at: null })).toBe(false);
});
