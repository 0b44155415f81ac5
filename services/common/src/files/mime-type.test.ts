import { parseMimeType } from './file-types';

test.each([
  ['image/JPEG', 'image/jpeg', 'image/jpeg'],
  ['  audio/ogg; codecs=opus ', 'audio/ogg', 'audio/ogg; codecs=opus'],
  ['text/plain;charset="utf-8"', 'text/plain', 'text/plain;charset="utf-8"'],
])('%s is a content type', (text, essence, full) => {
  expect(parseMimeType(text)).toEqual({ essence, full });
});

test.each([
  '',
  'image',
  'image/',
  '/jpeg',
  'image/jpeg;',
  'image/jpeg; a',
  'image/jpeg\r\nx: y',
  'text/plain; a="b\r\nc"',
  'text/plain; a=b\nc',
  'image/jpeg, image/png',
  `text/plain; a=${'b'.repeat(300)}`,
])('%j is none', (text) => {
  expect(parseMimeType(text)).toBeNull();
});
