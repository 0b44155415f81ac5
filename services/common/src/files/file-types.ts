// The content types of files, as partners give them, as the upstream takes them (contract 7.5), and
// as the first bytes of a file show them.
import { invalidField } from '../errors';

/** Of media in messages, by kind. */
export const MEDIA_TYPES = {
  image: ['image/jpeg', 'image/png'],
  video: ['video/mp4', 'video/3gpp'],
  audio: ['audio/aac', 'audio/amr', 'audio/mpeg', 'audio/mp4', 'audio/ogg'],
  document: [
    'application/pdf',
    'application/msword',
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    'application/vnd.ms-excel',
    'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    'application/vnd.ms-powerpoint',
    'application/vnd.openxmlformats-officedocument.presentationml.presentation',
    'text/plain',
  ],
  sticker: ['image/webp'],
} as const;

/** Of samples of template headers: those that the upstream's upload sessions accept. */
export const HEADER_TYPES = [
  'image/jpeg',
  'image/jpg',
  'image/png',
  'video/mp4',
  'application/pdf',
] as const;

export interface MimeType {
  /** `type/subtype` in lower case, the key of lookup tables. */
  essence: string;
  /** The essence with its parameters, if any (`audio/ogg; codecs=opus`). */
  full: string;
}

const LENGTH_MAX = 255;
const TOKEN = "[A-Za-z0-9!#$%&'*+.^_`|~-]+";
const PARAMETERS = `(?:[ \\t]*;[ \\t]*${TOKEN}=(?:${TOKEN}|"[ !#-\\[\\]-~]*"))*`;
const ESSENCE = new RegExp(`^(${TOKEN}/${TOKEN})(${PARAMETERS})$`);

/** A pattern of JSON Schema: one of the types in lower case, with any parameters. */
export const mimeTypePattern = (types: readonly string[]): string =>
  `^(?:${types.join('|').replaceAll('.', '\\.')})${PARAMETERS}$`;

/**
 * Null for an invalid content type. A partner's goes into headers, so it must match the grammar of
 * RFC 9110: above all it must not hold a line break, which would start another header.
 */
export function parseMimeType(text: string): MimeType | null {
  const trimmed = text.trim();
  if (trimmed.length > LENGTH_MAX) return null;
  const match = ESSENCE.exec(trimmed);
  if (!match) return null;
  const essence = (match[1] as string).toLowerCase();
  return { essence, full: essence + (match[2] as string) };
}

/**
 * What a file plainly is, by its first bytes: a server's error page under the name of a picture
 * would be accepted here and fail at the recipient's phone.
 */
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
