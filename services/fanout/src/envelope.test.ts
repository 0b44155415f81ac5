import fc from 'fast-check';
import { API_VERSION, NOTICES } from '@bmg/common/notices';
import { createEnvelope } from './envelope';

const envelope = createEnvelope('https://gateway.example');

test('has the contract’s fields, with the event id in meta', () => {
  const bytes = envelope(
    { event: 'message.sent', waba_id: '1', phone_number_id: '2', timestamp: 3, data: '{"a":1}' },
    'evt_x',
  );
  expect(JSON.parse(bytes.toString())).toEqual({
    event: 'message.sent',
    waba_id: '1',
    phone_number_id: '2',
    timestamp: 3,
    data: { a: 1 },
    meta: {
      api_version: API_VERSION,
      changelog: 'https://gateway.example/changelog',
      notices: NOTICES.map(({ id, severity, effective }) => ({ id, severity, effective })),
      event_id: 'evt_x',
    },
  });
});

test('has a null phone_number_id for an event of the account', () => {
  const bytes = envelope(
    { event: 'waba.review_updated', waba_id: '1', phone_number_id: null, timestamp: 3, data: '{}' },
    'evt_x',
  );
  expect(JSON.parse(bytes.toString())).toMatchObject({ phone_number_id: null });
});

test('keeps the digits of the upstream’s numbers', () => {
  const data = '{"amount":12345678901234567890}';
  const bytes = envelope(
    { event: 'e', waba_id: '1', phone_number_id: null, timestamp: 3, data },
    'evt_x',
  );
  expect(bytes.toString()).toContain(data);
});

test('round-trips any text through JSON', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.jsonValue(), (text, value) => {
      const data = JSON.stringify({ text, value });
      const bytes = envelope(
        { event: text, waba_id: text, phone_number_id: text, timestamp: 1, data },
        'evt_x',
      );
      const read = JSON.parse(bytes.toString('utf8')) as Record<string, unknown>;
      expect(read['data']).toEqual(JSON.parse(data));
    }),
  );
});
