import { MessagingDefinition } from '@bmg/proto/messaging';
import * as docs from './docs';
import * as schemas from './schemas';
import { get, post, rpc, type Endpoint } from '../endpoint';
import { FILE_TIMEOUT_MS } from '../parts/rows';

/** Time for a slow client to download the largest file. */
const DOWNLOAD_TIMEOUT_MS = 300_000;

const downloading = {
  scope: 'number',
  stream: true,
  timeout_ms: DOWNLOAD_TIMEOUT_MS,
  // Contract 15.6: both paths share one name.
  usage: '/media/download',
} as const;

export const media: Endpoint[] = [
  post('/media/upload', rpc(MessagingDefinition, 'uploadMedia'), {
    scope: 'number',
    key_scope: 'send',
    idempotent: true,
    usage: '/media/upload',
    status: 201,
    timeout_ms: FILE_TIMEOUT_MS,
    body: schemas.uploadMedia,
    reply: ({ media_id }, { target }) => ({ media_id, waba_id: target.waba_id }),
    docs: docs.uploadMedia,
    summary: 'Upload a media file from a URL',
  }),
  get('/media/:media_id', rpc(MessagingDefinition, 'downloadMedia'), {
    ...downloading,
    docs: docs.downloadMedia,
    summary: 'Download a media file',
  }),
  get('/contacts/media/:media_id', rpc(MessagingDefinition, 'downloadMedia'), {
    ...downloading,
    docs: docs.downloadContactMedia,
    summary: 'Download a media file sent by a contact',
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
    docs: docs.lookupContact,
    summary: 'Look up a phone number',
  }),
];
