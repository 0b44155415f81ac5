import { replyOf, taken, TARGET } from '../../../../test/contract/rows';

const UPLOAD = 'POST /media/upload';

test('answers an upload with media_id and waba_id', () => {
  expect(replyOf(UPLOAD, { media_id: '1' })).toEqual({ media_id: '1', waba_id: TARGET.waba_id });
});

test('takes an upload whose address has up to 2,048 characters', () => {
  const body = { url: 'https://example.org/a.png', mime_type: 'image/png' };
  expect(taken(UPLOAD, { ...body })).toEqual(body);
  expect(() => taken(UPLOAD, { ...body, url: body.url.padEnd(2_049, 'x') })).toThrow(
    expect.objectContaining({ code: 'INVALID_FIELD', details: { field: 'url' } }),
  );
});

test.each([
  [{ phone: '15550100777', exists: true, wa_id: '15550100778' }, '15550100778'],
  [{ phone: '15550100777', exists: false, wa_id: undefined }, null],
])('answers a contact with waId in camelCase: %j', (reply, waId) => {
  const { phone, exists } = reply;
  expect(replyOf('GET /contacts/:phone', reply)).toEqual({ phone, exists, known: exists, waId });
});
