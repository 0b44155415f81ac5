import fc from 'fast-check';
import { contactRecord, readCallbackData, writeCallbackData } from './state-records';

const received = (type: string) =>
  contactRecord({
    event: 'message.received',
    timestamp: 1_790_000_000,
    phone_number_id: '800000000000001',
    contact: '15550100777',
    data: { from: '15550100777', type },
    opaque: undefined,
    received_at_ms: 0,
  });

test('a change of the BSUID names the one that follows', () => {
  const message = { type: 'system', system: { type: 'user_changed_user_id', user_id: 'US.B' } };
  const record = contactRecord({
    event: 'message.received',
    timestamp: 1_790_000_000,
    received_at_ms: 0,
    data: { bsuid: 'US.A', type: 'system', raw: { message } },
  });
  expect(record).toMatchObject({ bsuid: 'US.A', next_bsuid: 'US.B', phone_number_id: undefined });
});

test.each([
  ['text', '800000000000001'],
  ['reaction', '800000000000001'],
  ['unsupported', '800000000000001'],
  ['system', undefined],
  ['request_welcome', undefined],
])('a message of type %s opens the window of %p', (type, phone_number_id) => {
  expect(received(type)).toMatchObject({ phone: '15550100777', phone_number_id });
});

test('callback data names the partner and the request that were written', () => {
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

test('callback data has the form that messages already sent carry', () => {
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
])('ignores callback data of another sender: %j', (data) => {
  expect(readCallbackData(data)).toBeUndefined();
});
