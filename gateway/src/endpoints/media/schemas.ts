import { object, text } from '../parts/inputs';
import type { Schema } from '../parts/schema';

const URL_MAX = 2_048;
const MIME_TYPE_MAX = 255;

/** What a partner says of a file that the service is to fetch. */
export const file: Schema = object(
  {
    url: text(URL_MAX, 'public HTTPS address of the file; its path names the file'),
    mime_type: text(MIME_TYPE_MAX, 'content type of the file, such as image/jpeg'),
  },
  ['url', 'mime_type'],
);

export const uploadMedia = file;
