import { isAnimatedWebp, limitOf, mediaRule, SUPPORTED_TYPES } from './limits';

const KB = 1_024;
const MB = 1_048_576;

const OFFICE = 'application/vnd.openxmlformats-officedocument';

test.each([
  ['image', 5 * MB, ['image/jpeg', 'image/png']],
  ['video', 16 * MB, ['video/mp4', 'video/3gpp']],
  ['audio', 16 * MB, ['audio/aac', 'audio/amr', 'audio/mpeg', 'audio/mp4', 'audio/ogg']],
  [
    'document',
    100 * MB,
    [
      'application/pdf',
      'application/msword',
      `${OFFICE}.wordprocessingml.document`,
      'application/vnd.ms-excel',
      `${OFFICE}.spreadsheetml.sheet`,
      'application/vnd.ms-powerpoint',
      `${OFFICE}.presentationml.presentation`,
      'text/plain',
    ],
  ],
  ['sticker', 500 * KB, ['image/webp']],
])('a file of kind %s has at most %i bytes: %j', (kind, limit_bytes, types) => {
  for (const mime_type of types) {
    expect(mediaRule(mime_type)).toEqual({ kind, mime_type, limit_bytes });
  }
});

test('no other type is supported', () => expect(SUPPORTED_TYPES).toHaveLength(18));

test('a type is matched whatever its case, and keeps its parameters', () => {
  expect(mediaRule(' Audio/OGG; codecs=opus')).toMatchObject({
    kind: 'audio',
    mime_type: 'audio/ogg; codecs=opus',
  });
});

test.each(['image/gif', 'image/jpg', 'application/zip', 'constructor', '', 'image/jpeg\r\na: b'])(
  '%j is not supported',
  (mime_type) => {
    expect(() => mediaRule(mime_type)).toThrow(
      expect.objectContaining({
        code: 'INVALID_FIELD',
        details: expect.objectContaining({ field: 'mime_type' }),
      }),
    );
  },
);

function webp(chunk: string, flags: number): Buffer {
  const head = Buffer.alloc(64);
  head.write('RIFF', 0);
  head.write(`WEBP${chunk}`, 8);
  head[20] = flags;
  return head;
}

describe('a sticker', () => {
  const rule = mediaRule('image/webp');

  test.each([
    ['the extended form with its animation flag', webp('VP8X', 0x02), true],
    ['the extended form with other flags too', webp('VP8X', 0x3e), true],
    ['the extended form without it', webp('VP8X', 0x3c), false],
    ['the simple lossy form, whatever its data', webp('VP8 ', 0xff), false],
    ['the simple lossless form', webp('VP8L', 0xff), false],
    ['something else', Buffer.from('GIF89a'), false],
    ['nothing', Buffer.alloc(0), false],
  ])('%s', (_name, head, animated) => {
    expect(isAnimatedWebp(head)).toBe(animated);
    expect(limitOf(rule, head)).toBe(animated ? 500 * KB : 100 * KB);
  });

  test('is the only kind whose content is checked', () => {
    expect(limitOf(mediaRule('image/png'), webp('VP8X', 0x02))).toBe(5 * MB);
  });
});
