import { headerRule } from './limits';

const MB = 1_048_576;

test.each([
  ['image/jpeg', 5 * MB],
  ['image/jpg', 5 * MB],
  ['IMAGE/PNG', 5 * MB],
  ['video/mp4; codecs=avc1', 16 * MB],
  ['application/pdf', 100 * MB],
])('%s has a limit of %i bytes', (mime_type, limit_bytes) => {
  const essence = mime_type.split(';')[0]?.toLowerCase();
  expect(headerRule(mime_type)).toEqual({ mime_type: essence, limit_bytes });
});

test.each(['image/webp', 'audio/ogg', 'text/plain', '', 'image/png\r\na: b'])(
  '%j is not supported',
  (mime_type) => {
    expect(() => headerRule(mime_type)).toThrow(
      expect.objectContaining({
        code: 'INVALID_FIELD',
        details: expect.objectContaining({ field: 'mime_type' }),
      }),
    );
  },
);
