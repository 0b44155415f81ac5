// What a file plainly is, by its first bytes: a server's error page under the name of a picture
// would be accepted here and fail at the recipient's phone.
import { invalidField } from '../errors';

interface Contents {
  /** Completes the sentence "is …". */
  name: string;
  /** The types that such a file can have. */
  types: readonly string[];
  /** Matches the file's first 64 bytes, one character for each byte. */
  begins: RegExp;
}

const CONTAINER_OF_MPEG = ['video/mp4', 'video/3gpp', 'audio/mp4'];
const DOCUMENT = 'application/vnd.openxmlformats-officedocument';
const TEXT = ['text/plain'];

const KNOWN: readonly Contents[] = [
  { name: 'a JPEG', types: ['image/jpeg', 'image/jpg'], begins: /^\xff\xd8\xff/ },
  { name: 'a PNG', types: ['image/png'], begins: /^\x89PNG\r\n\x1a\n/ },
  { name: 'a WebP', types: ['image/webp'], begins: /^RIFF[^]{4}WEBP/ },
  { name: 'an MP4', types: CONTAINER_OF_MPEG, begins: /^[^]{4}ftyp/ },
  { name: 'an Ogg file', types: ['audio/ogg'], begins: /^OggS/ },
  { name: 'an AMR', types: ['audio/amr'], begins: /^#!AMR/ },
  { name: 'a PDF', types: ['application/pdf'], begins: /^%PDF-/ },
  {
    name: 'an older Office document',
    types: ['application/msword', 'application/vnd.ms-excel', 'application/vnd.ms-powerpoint'],
    begins: /^\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1/,
  },
  {
    name: 'a ZIP archive',
    types: [
      `${DOCUMENT}.wordprocessingml.document`,
      `${DOCUMENT}.spreadsheetml.sheet`,
      `${DOCUMENT}.presentationml.presentation`,
    ],
    begins: /^PK\x03\x04/,
  },
  { name: 'HTML', types: TEXT, begins: /^(\xef\xbb\xbf)?\s*<(!doctype\s+html|html)[\s>]/i },
  { name: 'XML', types: TEXT, begins: /^(\xef\xbb\xbf)?\s*<\?xml\s/ },
  { name: 'JSON', types: TEXT, begins: /^(\xef\xbb\xbf)?\s*(\{\s*"|\[\s*[{"])/ },
];

/** Throws INVALID_FIELD if the bytes are plainly of another type; `mime_type` may have parameters. */
export function checkContents(head: Buffer, mime_type: string, field: string): void {
  const text = head.toString('latin1');
  const found = KNOWN.find(({ begins }) => begins.test(text));
  const essence = mime_type.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (!found || found.types.includes(essence)) return;
  throw invalidField(field, `leads to a file that is ${found.name}, not ${essence}`, {
    reason: 'contents',
  });
}
