import fc from 'fast-check';
import { readCallbackData, writeCallbackData } from './state-records';

test('reads the partner and the request that were written', () => {
  const partner = fc.string({ minLength: 1 }).filter((text) => !text.includes(':'));
  fc.assert(
    fc.property(partner, fc.string({ minLength: 1 }), (partner_id, request_id) => {
      expect(readCallbackData(writeCallbackData(partner_id, request_id))).toEqual({
        partner_id,
        request_id,
      });
    }),
  );
});

test('has the form that messages already sent carry', () => {
  expect(writeCallbackData('ptn_1', 'msg_01')).toBe('bmg1:ptn_1:msg_01');
});

test.each([
  undefined,
  '',
  'order-17',
  'bmg1:',
  'bmg1:ptn_1',
  'bmg1:ptn_1:',
  'bmg1::msg_01',
  'bmg2:ptn_1:msg_01',
  ' bmg1:ptn_1:msg_01',
])('ignores data of another sender: %j', (data) => {
  expect(readCallbackData(data)).toBeUndefined();
});
