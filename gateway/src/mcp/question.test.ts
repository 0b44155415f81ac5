import { costText, questionOf, type Preview } from './question';

const preview: Preview = {
  would_send: {
    request: 'POST /v1/messages/template',
    waba_id: '900000000000001',
    phone_number_id: '800000000000001',
    recipients: 1,
    body: { to: '4915112345678', template: { name: 'hello_world', language: 'en_US' } },
  },
  deliverable: 'yes',
  cost: { category: 'utility', billable: true, currency: 'USD', unit_price: '0.0456' },
  reasons: [],
};

test('names the request, the recipients, the cost and the content', () => {
  expect(questionOf('Send a template', preview)).toBe(
    [
      'Send a template?',
      'Request: POST /v1/messages/template, account 900000000000001, number 800000000000001',
      'Recipients: 1',
      'Cost: 0.0456 USD (utility)',
      'Content: {"to":"4915112345678","template":{"name":"hello_world","language":"en_US"}}',
    ].join('\n'),
  );
});

test('names doubts, of many the first', () => {
  const reasons = Array.from({ length: 9 }, (_, place) => ({ message: `doubt ${place}` }));
  const text = questionOf('Send a text', { ...preview, deliverable: 'unknown', reasons });
  expect(text).toContain('It is not known whether the send would succeed.\nNote: doubt 0\n');
  expect(text.match(/^Note: /gm)).toHaveLength(5);
});

test('has a bound, whatever is sent', () => {
  const body = { contacts: Array.from({ length: 10_000 }, () => '15550100777') };
  const would_send = { ...preview.would_send, recipients: 10_000, body };
  const text = questionOf('Send a template to many contacts', { ...preview, would_send });
  expect(text.length).toBeLessThan(2_500);
  expect(text).toMatch(/… \(\d+ more characters\)$/);
});

test.each([
  [null, 'not known'],
  [{ category: 'service', billable: false, unit_price: null }, 'free (service)'],
  [
    { category: 'service', billable: null, currency: 'USD', unit_price: '0.01' },
    '0.01 USD, or free (service)',
  ],
  [
    { category: 'utility', billable: true, unit_price: null, unit_price_reason: 'no rate card' },
    'not known (utility): no rate card',
  ],
  [
    { category: 'marketing', billable: 9, unknown: 1, currency: 'USD', min: '1.2', max: '1.3' },
    '1.2 to 1.3 USD (marketing)',
  ],
  [{ category: null, billable: 9, unknown: 0, currency: 'USD', min: '1.2', max: '1.2' }, '1.2 USD'],
  [{ category: 'utility', billable: 0, unknown: 0, min: null, max: null }, 'free (utility)'],
  [
    { category: 'utility', billable: 3, unknown: 0, min: null, max: null, reason: 'no rate card' },
    'not known (utility): no rate card',
  ],
])('%j costs %s', (cost, expected) => {
  expect(costText(cost)).toBe(expected);
});
