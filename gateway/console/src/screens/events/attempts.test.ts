import type { Attempt } from '../../api/types';
import { answerOf, deliveryOf, isAccepted, stateOf } from './attempts';

const attempt = (http_status: number | null, error: string | null = null) =>
  ({ http_status, error }) as Attempt;

test.each([
  [attempt(204), true, 'HTTP 204'],
  [attempt(302), false, 'HTTP 302'],
  [attempt(503, 'HTTP 503'), false, 'HTTP 503'],
  [attempt(null, 'timeout'), false, 'timeout'],
  [attempt(null), true, 'stored'],
])('%j is accepted: %j, %s', (one, accepted, answer) => {
  expect([isAccepted(one), answerOf(one)]).toEqual([accepted, answer]);
});

test('the deliveries of an event to several receivers have names of their own', () => {
  const names = [null, 'whe_1', 'whe_2'].map((endpoint_id) =>
    deliveryOf({ event_id: 'evt_1', endpoint_id }),
  );
  expect(names).toEqual(['evt_1', 'evt_1/whe_1', 'evt_1/whe_2']);
});

test('the last attempt says how a delivery stands', () => {
  expect(stateOf([])).toBeNull();
  expect(stateOf([attempt(200), attempt(500)])).toBe('failed');
  expect(stateOf([attempt(500), attempt(200)])).toBe('delivered');
});
