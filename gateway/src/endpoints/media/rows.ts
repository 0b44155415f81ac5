import { MEDIA_TYPES } from '@bmg/common/files';
import { MessagingDefinition } from '@bmg/proto/messaging';
import { get, post, rpc, type Endpoint } from '../endpoint';
import * as is from '../parts/answers';
import { file } from '../parts/inputs';
import { FILE_TIMEOUT_MS } from '../parts/rows';
import { phone } from '../parts/rules';

/** Time for a slow client to download the largest file. */
const DOWNLOAD_TIMEOUT_MS = 300_000;

const downloading = {
  scope: 'number',
  stream: true,
  timeout_ms: DOWNLOAD_TIMEOUT_MS,
  // Contract 15.6: both paths share one name.
  usage: '/media/download',
  params: { media_id: is.text('700000000000001', 'ID of the media file.') },
  codes: ['MEDIA_NOT_FOUND'],
  notes:
    'The file is streamed in its own content type, as an attachment with the file name of its sender if that is known. A media ID is valid for about 30 days.',
} as const;

export const media: Endpoint[] = [
  post('/media/upload', rpc(MessagingDefinition, 'uploadMedia'), {
    scope: 'number',
    key_scope: 'send',
    idempotent: true,
    status: 201,
    timeout_ms: FILE_TIMEOUT_MS,
    body: file(Object.values(MEDIA_TYPES).flat()),
    reply: ({ media_id }, { target }) => ({ media_id, waba_id: target.waba_id }),
    summary: 'Upload a media file from a URL',
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
  }),
  get('/media/:media_id', rpc(MessagingDefinition, 'downloadMedia'), {
    ...downloading,
    summary: 'Download a media file',
  }),
  get('/contacts/media/:media_id', rpc(MessagingDefinition, 'downloadMedia'), {
    ...downloading,
    summary: 'Download a media file sent by a contact',
    operation: 'downloadContactMedia',
  }),
  get('/contacts/:phone', rpc(MessagingDefinition, 'lookupContact'), {
    scope: 'number',
    // The contract's only field in camelCase.
    reply: ({ phone, exists, wa_id }) => ({
      phone,
      exists,
      // Nothing but what was learned makes a number exist here.
      known: exists,
      waId: wa_id ?? null,
    }),
    summary: 'Look up a phone number',
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
      waId: is.maybe.text('15550100777', 'Platform ID of the number. The only field in camelCase.'),
    }),
    notes:
      'Answers from what the service has learned from your messages and from contact sync. A number that it has never seen has `exists: false` and `known: false`, which does not mean that the number is not on the platform: send a message to learn it.',
  }),
];
