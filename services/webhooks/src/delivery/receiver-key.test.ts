import { ReceiverEndpoint } from '@bmg/proto/onboarding';
import {
  deliveryKey,
  eventOfKey,
  isDestination,
  isWanted,
  receiverKey,
  receiverOfKey,
} from './receiver-key';

const endpoint = (overrides: Partial<ReceiverEndpoint> = {}): ReceiverEndpoint =>
  ReceiverEndpoint.fromPartial({ endpoint_id: 'whe_1', status: 'active', ...overrides });
const event = { event: 'message.received', waba_id: '9', phone_number_id: '8' };

test('the webhook URL goes by the IDs of its partner and its events', () => {
  expect(receiverKey({ partner_id: 'ptn_1', endpoint_id: undefined })).toBe('ptn_1');
  expect(deliveryKey('evt_1', undefined)).toBe('evt_1');
  expect(eventOfKey('evt_1')).toBe('evt_1');
});

test('the name and the event of an endpoint’s delivery are found in its keys', () => {
  const name = { partner_id: 'ptn_1', endpoint_id: 'whe_1' };
  expect(receiverOfKey(receiverKey(name))).toEqual(name);
  expect(eventOfKey(deliveryKey('evt_1', 'whe_1'))).toBe('evt_1');
});

test('the key of a destination shows that it is one', () => {
  const keys = [undefined, 'whe_1', 'whd_1'].map((endpoint_id) =>
    receiverKey({ partner_id: 'ptn_whd_1', endpoint_id }),
  );
  expect(keys.map(isDestination)).toEqual([false, false, true]);
});

test.each<[string, Partial<ReceiverEndpoint>, object, boolean]>([
  ['without a filter', {}, {}, true],
  ['paused', { status: 'paused' }, {}, true],
  ['disabled', { status: 'disabled' }, {}, false],
  ['with its name', { events: ['message.sent', 'message.received'] }, {}, true],
  ['with other names', { events: ['message.sent'] }, {}, false],
  ['with its prefix', { events: ['message.*'] }, {}, true],
  ['with another prefix', { events: ['template.*'] }, {}, false],
  [
    'with a prefix that the name only resembles',
    { events: ['message.*'] },
    { event: 'messages' },
    false,
  ],
  ['with its account', { waba_ids: ['7', '9'] }, {}, true],
  ['with another account', { waba_ids: ['7'] }, {}, false],
  ['with an account, for an event without one', { waba_ids: ['9'] }, { waba_id: '' }, false],
  ['with its number', { phone_number_ids: ['8'] }, {}, true],
  ['with another number', { phone_number_ids: ['6'] }, {}, false],
  [
    'with a number, for an event without one',
    { phone_number_ids: ['8'] },
    { phone_number_id: undefined },
    false,
  ],
  ['with all filters passed but one', { events: ['message.*'], waba_ids: ['7'] }, {}, false],
])('an endpoint %s', (_name, filter, changed, wanted) => {
  expect(isWanted(endpoint(filter), { ...event, ...changed })).toBe(wanted);
});
