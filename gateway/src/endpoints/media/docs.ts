import type { RowDocs } from '../endpoint';
import * as is from '../parts/answers';
import { phone } from '../parts/rules';

export const uploadMedia: RowDocs = {
  answer: is.record({
    media_id: is.text(
      '700000000000001',
      'ID to send the file with. Valid for this number only, for about 30 days.',
    ),
    waba_id: is.text('900000000000001'),
  }),
  example: { url: 'https://example.com/files/plant.jpg', mime_type: 'image/jpeg' },
  codes: ['MEDIA_TOO_LARGE'],
  notes:
    'The service fetches the file once, during the request, within 30 seconds, and uploads it. Multipart bodies are not supported.',
};

export const downloadMedia: RowDocs = {
  params: { media_id: is.text('700000000000001', 'ID of the media file.') },
  codes: ['MEDIA_NOT_FOUND'],
  notes:
    'The file is streamed in its own content type, as an attachment with the file name of its sender if that is known. A media ID is valid for about 30 days.',
};

export const downloadContactMedia: RowDocs = {
  ...downloadMedia,
  operation: 'downloadContactMedia',
};

export const lookupContact: RowDocs = {
  params: {
    phone: { ...is.text('15550100777', 'Phone number in international format.'), ...phone },
  },
  answer: is.record({
    phone: is.text('15550100777'),
    exists: is.flag(true, 'Whether the number is on the platform, as far as the service knows.'),
    known: is.flag(
      true,
      'Whether the service has learned anything of the number. False beside `exists: false`: the number may be on the platform all the same.',
    ),
    waId: is.orNull(
      is.text('15550100777', 'Platform ID of the number. The only field in camelCase.'),
    ),
  }),
  notes:
    'Answers from what the service has learned from your messages and from contact sync. A number that it has never seen has `exists: false` and `known: false`, which does not mean that the number is not on the platform: send a message to learn it.',
};
