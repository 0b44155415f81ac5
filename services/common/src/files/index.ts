export {
  createFileFetcher,
  tooLarge,
  type FetchWish,
  type FileFetcher,
  type FileFetcherSettings,
} from './fetch-file';
export { fileNameOf, safeFileName } from './file-name';
export { HEADER_TYPES, MEDIA_TYPES } from './file-types';
export { mimeTypePattern, parseMimeType, type MimeType } from './mime-type';
export { multipart, type Multipart } from './multipart';
export { fileSettings } from './settings';
export type { SpooledFile } from './spool';
export {
  createTransfer,
  type OpenFile,
  type Refusal,
  type Transfer,
  type TransferRequest,
} from './transfer';
