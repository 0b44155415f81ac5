import { UploadMediaRequest } from '@bmg/proto/messaging';
import { compile } from '../parts/schema';
import { usageName, type Endpoint, type Input } from '../endpoint';
import { media } from './rows';

const row = (verb: string, path: string): Endpoint =>
  (media as Endpoint[]).find((one) => one.verb === verb && one.path === path) as Endpoint;
const input = { target: { waba_id: '900000000000001' } } as Input;

test('answers an upload with 201, media_id and waba_id', () => {
  const upload = row('POST', '/media/upload');
  expect(upload).toMatchObject({ status: 201, idempotent: true, scope: 'number' });
  expect(upload.counted ?? true).toBe(true);
  expect(usageName(upload)).toBe('/media/upload');
  expect(upload.reply?.({ media_id: '1' }, input)).toEqual({
    media_id: '1',
    waba_id: '900000000000001',
  });
});

test.each(['/media/:media_id', '/contacts/media/:media_id'])(
  'the download %s is streamed, counted and logged under one name',
  (path) => {
    const download = row('GET', path);
    expect(download).toMatchObject({ stream: true, scope: 'number' });
    expect(download.counted ?? true).toBe(true);
    expect(usageName(download)).toBe('/media/download');
  },
);

describe('the body of an upload', () => {
  const check = compile(row('POST', '/media/upload').body ?? {}, 'body');
  const body = { url: 'https://example.org/a.png', mime_type: 'image/png' };

  test('is passed on completely', () => {
    expect(UploadMediaRequest.fromPartial(check({ ...body }) as object)).toMatchObject(body);
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
    expect(() => check(wrong)).toThrow(
      expect.objectContaining({ code, details: expect.objectContaining(details) }),
    );
  });
});

test.each([
  [{ phone: '15550100777', exists: true, wa_id: '15550100778' }, '15550100778'],
  [{ phone: '15550100777', exists: false, wa_id: undefined }, null],
])('answers a contact with waId in camelCase: %j', (reply, waId) => {
  const { phone, exists } = reply;
  const known = exists;
  expect(row('GET', '/contacts/:phone').reply?.(reply, input)).toEqual({
    ...{ phone, exists, known, waId },
  });
});
