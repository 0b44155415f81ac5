import type { RowDocs } from '../endpoint';
import * as is from '../parts/answers';

const file = (name: string, mime_type: string): Record<string, unknown> => ({
  url: `https://example.com/files/${name}`,
  mime_type,
});

export const uploadMedia: RowDocs = {
  answer: is.record({
    media_id: is.text('700000000000001', 'bound to the number; expires after about 30 days'),
    waba_id: is.text('900000000000001'),
  }),
  example: file('plant.jpg', 'image/jpeg'),
  codes: ['MEDIA_TOO_LARGE'],
  notes:
    'The file is fetched once, within 30 seconds, during the request. Its name comes from the path of the URL. Multipart bodies are refused.',
};

export const downloadMedia: RowDocs = { codes: ['MEDIA_NOT_FOUND'] };

export const downloadContactMedia: RowDocs = {
  ...downloadMedia,
  operation: 'downloadContactMedia',
};

export const lookupContact: RowDocs = {
  answer: is.record({
    phone: is.text('15550100777'),
    exists: is.flag(true),
    waId: is.orNull(is.text('15550100777', 'the one field of the interface in camelCase')),
  }),
  notes:
    'Answered from what the service has learned of the number from messages and contact sync; never a guess.',
};

export const uploadHeader: RowDocs = {
  answer: is.record({
    header_handle: is.text('4::aW1hZ2UvanBlZw==:ARZ…', 'goes into `example.header_handle`'),
  }),
  example: file('sample.jpg', 'image/jpeg'),
  codes: ['MEDIA_TOO_LARGE', 'PLATFORM_NOT_CONFIGURED'],
};
