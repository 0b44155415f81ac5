import { UploadMediaRequest } from '@bmg/proto/messaging';
import { replyOf, taken, TARGET } from '../../../../test/contract/rows';

const UPLOAD = 'POST /media/upload';

test('answers an upload with media_id and waba_id', () => {
  expect(replyOf(UPLOAD, { media_id: '1' })).toEqual({ media_id: '1', waba_id: TARGET.waba_id });
});

describe('the body of an upload', () => {
  const body = { url: 'https://example.org/a.png', mime_type: 'image/png' };

  test('is passed on completely', () => {
    expect(UploadMediaRequest.fromPartial(taken(UPLOAD, { ...body }) as object)).toMatchObject(
      body,
    );
  });

  test.each([
    [{}, 'MISSING_FIELDS', { fields: ['url', 'mime_type'] }],
    [{ ...body, url: ' ' }, 'MISSING_FIELDS', { fields: ['url'] }],
    [{ ...body, url: 1 }, 'INVALID_FIELD', { field: 'url' }],
    [{ ...body, mime_type: ['image/png'] }, 'INVALID_FIELD', { field: 'mime_type' }],
    [
      { ...body, url: `https://example.org/${'x'.repeat(2_048)}` },
      'INVALID_FIELD',
      { field: 'url' },
    ],
  ])('%j is %s', (wrong, code, details) => {
    expect(() => taken(UPLOAD, wrong)).toThrow(
      expect.objectContaining({ code, details: expect.objectContaining(details) }),
    );
  });
});

test.each([
  [{ phone: '15550100777', exists: true, wa_id: '15550100778' }, '15550100778'],
  [{ phone: '15550100777', exists: false, wa_id: undefined }, null],
])('answers a contact with waId in camelCase: %j', (reply, waId) => {
  const { phone, exists } = reply;
  expect(replyOf('GET /contacts/:phone', reply)).toEqual({ phone, exists, known: exists, waId });
});
