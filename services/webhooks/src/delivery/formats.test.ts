import { formatted } from './formats';

const envelope = (changes: object = {}): Buffer =>
  Buffer.from(
    JSON.stringify({
      event: 'message.received',
      waba_id: '9',
      phone_number_id: '8',
      timestamp: 1_790_000_000,
      data: { text: 'Grüße "an" alle' },
      ...changes,
    }),
  );
const event = (body = envelope()) => ({
  event_id: 'evt_1',
  event: 'message.received',
  partner_id: 'ptn_1',
  body,
  received_at_ms: 1_790_000_001_000,
});
const ATTRIBUTES = {
  specversion: '1.0',
  id: 'evt_1',
  source: '/accounts/9',
  type: 'message.received',
  subject: '8',
  time: '2026-09-21T14:13:20.000Z',
};

test('the envelope is posted as it is, also for a format that is not known', () => {
  for (const format of ['envelope', 'of-a-newer-release']) {
    const given = event();
    const { body, headers } = formatted(given, format);
    expect(body).toBe(given.body);
    expect(headers).toEqual({ 'content-type': 'application/json' });
  }
});

test('a structured CloudEvent has the envelope byte for byte as its data', () => {
  const digits = envelope().toString('utf8').replace('1790000000', '1790000000.0');
  const { body, headers } = formatted(event(Buffer.from(digits)), 'cloudevents-structured');
  expect(headers['content-type']).toBe('application/cloudevents+json; charset=utf-8');
  expect(body.toString('utf8')).toContain(`"data":${digits}}`);
  expect(JSON.parse(body.toString('utf8'))).toEqual({
    ...ATTRIBUTES,
    datacontenttype: 'application/json',
    data: JSON.parse(digits) as object,
  });
});

test('a binary CloudEvent has its attributes in headers', () => {
  const given = event();
  const { body, headers } = formatted(given, 'cloudevents-binary');
  expect(body).toBe(given.body);
  const expected = Object.entries(ATTRIBUTES).map(([name, value]) => [`ce-${name}`, value]);
  expect(headers).toEqual({
    'content-type': 'application/json',
    ...Object.fromEntries(expected),
  });
});

test('an event of the partner has the partner as its source, and no subject', () => {
  const body = envelope({ waba_id: null, phone_number_id: null });
  const { headers } = formatted(event(body), 'cloudevents-binary');
  expect([headers['ce-source'], headers['ce-subject']]).toEqual(['/partners/ptn_1', undefined]);
});

test('a time beyond the calendar is replaced by that of the receipt', () => {
  const { headers } = formatted(event(envelope({ timestamp: 9e15 })), 'cloudevents-binary');
  expect(headers['ce-time']).toBe('2026-09-21T14:13:21.000Z');
});

test('attribute values outside printable ASCII are percent-encoded in headers', () => {
  const named = { ...event(), event: 'Grüße "a b"%' };
  const { headers } = formatted(named, 'cloudevents-binary');
  expect(headers['ce-type']).toBe('Gr%C3%BC%C3%9Fe%20%22a%20b%22%25');
});
