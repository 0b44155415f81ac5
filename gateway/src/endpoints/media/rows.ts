import {
  MessagingDefinition,
  type LookupContactResponse,
  type UploadMediaResponse,
} from '@bmg/proto/messaging';
import * as docs from './docs';
import * as schemas from './schemas';
import { get, post, rpc, type Fields, type Input } from '../endpoint';

/** A fetch of 30 s and the upload of 100 MB behind it. */
export const FILE_TIMEOUT_MS = 120_000;
/** As long as a slow client may take for the largest file. */
const DOWNLOAD_TIMEOUT_MS = 300_000;

const downloading = {
  scope: 'number',
  stream: true,
  timeout_ms: DOWNLOAD_TIMEOUT_MS,
  // Usage metering: both paths are logged under this one name.
  usage: '/media/download',
} as const;

export const media = [
  post('/media/upload', rpc(MessagingDefinition, 'uploadMedia'), {
    scope: 'number',
    idempotent: true,
    usage: '/media/upload',
    status: 201,
    timeout_ms: FILE_TIMEOUT_MS,
    body: schemas.uploadMedia,
    reply: ({ media_id }: UploadMediaResponse, { target }: Input): Fields => ({
      media_id,
      waba_id: target?.waba_id,
    }),
    docs: docs.uploadMedia,
    summary: 'Fetch a file and upload it for sending',
  }),
  get('/media/:media_id', rpc(MessagingDefinition, 'downloadMedia'), {
    ...downloading,
    docs: docs.downloadMedia,
    summary: 'Download a media file',
  }),
  get('/contacts/media/:media_id', rpc(MessagingDefinition, 'downloadMedia'), {
    ...downloading,
    docs: docs.downloadContactMedia,
    summary: 'Download a media file that a contact has sent',
  }),
  get('/contacts/:phone', rpc(MessagingDefinition, 'lookupContact'), {
    scope: 'number',
    // The one field of the contract in camelCase.
    reply: ({ phone, exists, wa_id }: LookupContactResponse): Fields => ({
      phone,
      exists,
      waId: wa_id ?? null,
    }),
    docs: docs.lookupContact,
    summary: 'Tell what is known of a phone number',
  }),
];
