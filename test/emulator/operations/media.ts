// Media: multipart upload, the node with its short-lived URL, and the download at that URL.
import { authenticate, type Credentials } from '../access';
import { numberOf, Reply, routesOf, type Call, type Core } from '../core';
import { invalid, unknownObject, upstreamError } from '../errors';
import { BodySource } from '../http';
import { generatedHash, MEDIA_TOTAL_MAX_BYTES, TooLarge, type StoredFile } from '../media-store';
import { boundaryOf, MultipartError, readMultipart, type PartHeaders } from '../multipart';
import type { BusinessNumber, JsonObject, Media } from '../types';
import { requireProduct, SUCCESS } from './parameters';

const MB = 1024 * 1024;
const KB = 1024;
const UPLOAD_LIFETIME_MS = 30 * 24 * 3600 * 1000;
const MEDIA_MAX = 10_000;
const INBOUND_LIFETIME_MS = 7 * 24 * 3600 * 1000;
const URL_LIFETIME_MS = 5 * 60 * 1000;

export const DOWNLOAD_PATH = '/attachments/';

/** MIME type → maximum size in bytes. */
export const MEDIA_TYPES: Readonly<Record<string, number>> = {
  'image/jpeg': 5 * MB,
  'image/png': 5 * MB,
  'video/mp4': 16 * MB,
  'video/3gpp': 16 * MB,
  'audio/aac': 16 * MB,
  'audio/amr': 16 * MB,
  'audio/mpeg': 16 * MB,
  'audio/mp4': 16 * MB,
  'audio/ogg': 16 * MB,
  'text/plain': 100 * MB,
  'application/pdf': 100 * MB,
  'application/msword': 100 * MB,
  'application/vnd.ms-excel': 100 * MB,
  'application/vnd.ms-powerpoint': 100 * MB,
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 100 * MB,
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 100 * MB,
  'application/vnd.openxmlformats-officedocument.presentationml.presentation': 100 * MB,
  'image/webp': 500 * KB,
};
const LARGEST = 100 * MB;

export const mediaRoutes = [
  ...routesOf('whatsapp_business_messaging', { 'POST /:number/media': upload }, 'stream'),
  ...routesOf('whatsapp_business_messaging', { 'GET /:media': read, 'DELETE /:media': remove }),
];

type Uploaded = StoredFile & PartHeaders;

async function upload(call: Call): Promise<JsonObject> {
  const boundary = boundaryOf(call.request.headers['content-type']);
  if (!boundary) throw invalid('The request must be multipart/form-data with a boundary');
  const texts: Record<string, string> = {};
  let stored: Uploaded | null = null;
  const { media } = call.core;
  const source = new BodySource(call.request);
  try {
    await readMultipart(source, boundary, {
      text: (name, value) => (texts[name] = value),
      file: async (headers, bytes) => {
        if (headers.name !== 'file' || stored) throw new MultipartError('one part "file" is taken');
        stored = { ...(await media.store(bytes, LARGEST)), ...headers };
      },
    });
    await source.discard();
    logUpload(call, texts, stored);
    return accept(call, texts, stored);
  } catch (error) {
    await source.discard();
    await media.remove((stored as StoredFile | null)?.path ?? null);
    if (error instanceof TooLarge) throw upstreamError(131053, 'The file is too large');
    if (error instanceof MultipartError) throw invalid(`Invalid multipart body: ${error.message}`);
    throw error;
  }
}

function logUpload(call: Call, texts: Record<string, string>, file: Uploaded | null): void {
  const { size, sha256, filename, content_type } = file ?? {};
  if (size === undefined || sha256 === undefined) return;
  call.entry.body = { size, sha256, filename, content_type, ...texts };
}

function accept(call: Call, texts: Record<string, string>, file: Uploaded | null): JsonObject {
  requireProduct(texts);
  if (!file) throw invalid('The parameter file is required.');
  const mime_type = bare(file.content_type ?? texts['type'] ?? '');
  const size_max = MEDIA_TYPES[mime_type];
  if (size_max === undefined) {
    const list = Object.keys(MEDIA_TYPES).join(', ');
    throw invalid(
      `Param file must be a file with one of the following types: ${list}. Received file of type '${mime_type}'.`,
    );
  }
  if (file.size === 0) throw upstreamError(131053, 'The file is empty');
  if (file.size > size_max) {
    throw upstreamError(131053, `The file has ${file.size} bytes; ${size_max} are allowed`);
  }
  const { sha256, size, filename, path } = file;
  const kept = { mime_type, sha256, size, filename, path, lifetime_ms: UPLOAD_LIFETIME_MS };
  return { id: addMedia(call.core, numberOf(call), kept).id };
}

function bare(content_type: string): string {
  return (content_type.split(';', 1)[0] as string).trim().toLowerCase();
}

type NewMedia = Pick<Media, 'mime_type' | 'sha256' | 'size' | 'filename' | 'path'>;

/** A medium of a customer; without a file, its bytes are generated while they are sent. */
export function customerMedia(
  core: Core,
  number: BusinessNumber,
  given: Pick<Media, 'mime_type' | 'size'> & Partial<NewMedia>,
): Media {
  const sha256 = given.sha256 ?? generatedHash(given.size);
  return addMedia(core, number, {
    ...{ filename: null, path: null, ...given, sha256 },
    lifetime_ms: INBOUND_LIFETIME_MS,
  });
}

export function addMedia(
  core: Core,
  number: BusinessNumber,
  media: NewMedia & { lifetime_ms: number },
): Media {
  const { lifetime_ms, ...rest } = media;
  const record: Media = {
    ...rest,
    id: core.ids.numeric('media'),
    waba_id: number.waba_id,
    phone_number_id: number.id,
    expires_at: Date.now() + lifetime_ms,
  };
  core.state.media.set(record.id, record);
  makeRoom(core);
  return record;
}

/** Evicts the oldest media beyond the maximum count or size. */
function makeRoom(core: Core): void {
  const { media } = core.state;
  let total = 0;
  for (const { size, path } of media.values()) total += path === null ? 0 : size;
  for (const [id, { size, path }] of media) {
    if (media.size <= MEDIA_MAX && total <= MEDIA_TOTAL_MAX_BYTES) return;
    if (path !== null) total -= size;
    media.delete(id);
    void core.media.remove(path);
  }
}

export function mediaUrl(core: Core, media: Media): string {
  const expires_s = Math.floor((Date.now() + URL_LIFETIME_MS) / 1000);
  const hash = core.media.hashFor(media.id, expires_s);
  return `${core.config.public_url}${DOWNLOAD_PATH}?mid=${media.id}&ext=${expires_s}&hash=${hash}`;
}

function mediaOf(call: Call): Media {
  const id = call.segments[0] as string;
  const media = call.state.media.get(id) as Media;
  const number_id = call.query.get('phone_number_id') ?? media.phone_number_id;
  if (media.expires_at <= Date.now() || number_id !== media.phone_number_id) {
    throw unknownObject(call.method, id);
  }
  return media;
}

function read(call: Call): JsonObject {
  const media = mediaOf(call);
  return {
    messaging_product: 'whatsapp',
    url: mediaUrl(call.core, media),
    mime_type: media.mime_type,
    sha256: media.sha256,
    file_size: String(media.size),
    id: media.id,
  };
}

async function remove(call: Call): Promise<JsonObject> {
  const { id, path } = mediaOf(call);
  call.state.media.delete(id);
  await call.core.media.remove(path);
  return SUCCESS;
}

/** The URL is not part of the versioned API: it answers plain statuses, no error objects. */
export function handleDownload(
  core: Core,
  query: URLSearchParams,
  credentials: Credentials | null,
): Reply {
  const id = query.get('mid') ?? '';
  const expires_s = Number(query.get('ext'));
  const media = core.state.media.get(id);
  if (!media || !core.media.validHash(id, expires_s, query.get('hash') ?? '')) return plain(404);
  if (expires_s * 1000 < Date.now()) return plain(404);
  try {
    const token = authenticate(core.state, core.config, credentials);
    if (token.waba_ids !== 'all' && !token.waba_ids.includes(media.waba_id)) return plain(404);
  } catch {
    return plain(401);
  }
  return new Reply(200, core.media.open(media.path, media.size), {
    'content-type': media.mime_type,
    'content-length': String(media.size),
    ...(media.filename ? { 'content-disposition': disposition(media.filename) } : {}),
  });
}

function disposition(filename: string): string {
  return `attachment; filename*=UTF-8''${encodeURIComponent(filename)}`;
}

function plain(status: number): Reply {
  return new Reply(status, '', { 'content-type': 'text/html; charset=utf-8' });
}
