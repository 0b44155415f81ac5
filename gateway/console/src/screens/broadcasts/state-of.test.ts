import type { Broadcast } from '../../api/types';
import { isMoving, isSettling, stateOf } from './state-of';

const AT = '2026-09-01T12:00:00.000Z';
const WAITING = {
  state: 'waiting',
  created_by: null,
  ends_at: AT,
  approved_by: null,
  approved_at: null,
};
const broadcast = (fields: Partial<Broadcast>) =>
  ({ status: 'processing', completed_at: null, paused_at: null, ...fields }) as Broadcast;

test.each([
  [{}, 'processing'],
  [{ paused_at: AT }, 'paused'],
  [{ status: 'cancelled', paused_at: AT }, 'cancelled'],
  [{ status: 'completed', completed_at: AT }, 'completed'],
  [{ status: 'scheduled', approval: WAITING }, 'waits_for_approval'],
  [{ status: 'scheduled', approval: { ...WAITING, state: 'approved' } }, 'scheduled'],
  [{ status: 'cancelled', approval: { ...WAITING, state: 'ended' } }, 'cancelled'],
] as const)('the state of %j is %s', (fields, state) => {
  expect(stateOf(broadcast(fields))).toBe(state);
});

test.each([
  ['its end', { status: 'completed', completed_at: AT }],
  ['its pause', { paused_at: AT }],
  ['its cancellation in a pause', { status: 'cancelled', paused_at: AT }],
] as const)('a broadcast settles for ten minutes after %s', (_what, fields) => {
  const at = (time: string) => isSettling(broadcast(fields), Date.parse(time));
  expect(at('2026-09-01T12:09:59.000Z')).toBe(true);
  expect(at('2026-09-01T12:10:00.000Z')).toBe(false);
  expect(isMoving(broadcast(fields))).toBe(false);
});

test('a broadcast that runs or waits moves', () => {
  expect(isSettling(broadcast({}))).toBe(false);
  expect(isMoving(broadcast({}))).toBe(true);
  expect(isMoving(broadcast({ status: 'scheduled' }))).toBe(true);
  expect(isMoving(broadcast({ status: 'pending', approval: WAITING }))).toBe(false);
});
