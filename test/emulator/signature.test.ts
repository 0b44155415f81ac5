import { escapeNonAscii, serialise, sign } from './signature';

describe('the webhook signature', () => {
  it('matches the published vectors', () => {
    expect(sign('{"object":"whatsapp_business_account","entry":[]}', 'example-app-secret')).toBe(
      'sha256=eb4b54cb68820a953c6ac314910c47e62f8e1b39bbda1006514617140c6d3870',
    );
  });

  it('covers the body with escaped characters', () => {
    const body = serialise({
      object: 'whatsapp_business_account',
      entry: [{ id: '900000000000001', changes: [{ field: 'messages', value: { note: 'café' } }] }],
    });
    expect(body).toContain('caf\\u00e9');
    expect(sign(body, 'example-app-secret')).toBe(
      'sha256=58f8b1c84038f451bab739ecd9fabf4911c9ce5ba1b0f5561c30dbc197ae881b',
    );
  });

  it('escapes both surrogates of a character outside the BMP', () => {
    expect(escapeNonAscii('"👍"')).toBe('"\\ud83d\\udc4d"');
    expect(JSON.parse(escapeNonAscii('"👍 ü"'))).toBe('👍 ü');
  });

  it('writes template IDs as numbers too large for JavaScript', () => {
    expect(serialise({ message_template_id: '317952571926180001' })).toBe(
      '{"message_template_id":317952571926180001}',
    );
  });

  it('leaves a text that only looks like such an ID unchanged', () => {
    const text = { body: '"message_template_id":"12"' };
    expect(JSON.parse(serialise(text))).toEqual(text);
  });
});
