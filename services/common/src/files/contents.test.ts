import { checkContents } from './file-types';

const bytes = (text: string): Buffer => Buffer.from(text, 'latin1');
const JPEG = bytes('\xff\xd8\xff\xe0');
const MP4 = bytes('\x00\x00\x00\x20ftyp');

test.each([
  ['a page of HTML', bytes('\n<!DOCTYPE html><html>'), 'image/jpeg', 'HTML'],
  [
    'HTML after a byte order mark',
    bytes('\xef\xbb\xbf<html lang="en">'),
    'application/pdf',
    'HTML',
  ],
  ['an error in JSON', bytes('{"error":"expired"}'), 'video/mp4', 'JSON'],
  ['an error in XML', bytes('<?xml version="1.0"?><Error>'), 'image/png', 'XML'],
  ['a JPEG', JPEG, 'image/png', 'a JPEG'],
  ['a video', MP4, 'audio/ogg', 'an MP4'],
])('%s is refused', (_name, head, mime_type, found) => {
  const message = `url leads to a file that is ${found}, not ${mime_type}`;
  expect(() => checkContents(head, mime_type, 'url')).toThrow(message);
});

test.each([
  ['a JPEG', JPEG, 'image/jpeg'],
  ['a type with parameters', bytes('OggS'), 'audio/ogg; codecs=opus'],
  ['a sound in the container of a video', MP4, 'audio/mp4'],
  ['JSON as text', bytes('{"a":1}'), 'text/plain'],
  ['bytes of no known form', bytes('12345'), 'image/png'],
])('%s is accepted', (_name, head, mime_type) => {
  expect(() => checkContents(head, mime_type, 'url')).not.toThrow();
});
