import { isAnimatedWebp, limitOf, mediaRule, SUPPORTED_TYPES } from './limits';

const KB = 1_024;
const MB = 1_048_576;

test.each([
  ['image/jpeg', 'image', 5 * MB],
  ['image/png', 'image', 5 * MB],
  ['video/mp4', 'video', 16 * MB],
  ['video/3gpp', 'video', 16 * MB],
  ['audio/aac', 'audio', 16 * MB],
  ['audio/amr', 'audio', 16 * MB],
  ['audio/mpeg', 'audio', 16 * MB],
  ['audio/mp4', 'audio', 16 * MB],
  ['audio/ogg', 'audio', 16 * MB],
  ['application/pdf', 'document', 100 * MB],
  ['application/msword', 'document', 100 * MB],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'document', 100 * MB],
  ['application/vnd.ms-excel', 'document', 100 * MB],
  ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'document', 100 * MB],
  ['application/vnd.ms-powerpoint', 'document', 100 * MB],
  [
    'application/vnd.openxmlformats-officedocument.presentationml.presentation',
    'document',
    100 * MB,
  ],
  ['text/plain', 'document', 100 * MB],
  ['image/webp', 'sticker', 500 * KB],
])('%s is of kind %s, with at most %i bytes', (mime_type, kind, limit_bytes) => {
  expect(mediaRule(mime_type)).toEqual({ kind, mime_type, limit_bytes });
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
