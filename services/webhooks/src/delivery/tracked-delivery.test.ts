import { unsettled } from '../../test/builders';
import { trackedMessage } from './tracked-delivery';

const laneOf = (conversation: string): string =>
  trackedMessage(unsettled({ event_id: 'evt_1', partner_id: 'ptn_1', conversation }), 0).lane;

test.each([
  ['800|5511987650001', '800|551187650001', true],
  ['800|525512345678', '800|5215512345678', true],
  ['800|5511987650001', '801|551187650001', false],
  ['800|551141234567', '800|5511941234567', false],
  ['5511987650001|', '551187650001|', false],
])('the events of %s and %s are in one lane: %j', (one, other, together) => {
  expect(laneOf(one) === laneOf(other)).toBe(together);
});
