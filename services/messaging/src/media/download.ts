// Media downloads: reads the short-lived URL of a media id from the upstream and streams its bytes.
// Nothing is stored.
import { ApiError } from '@bmg/common/errors';
import {
  parseMimeType,
  safeFileName,
  type OpenFile,
  type Refusal,
  type Transfer,
} from '@bmg/common/files';
import { anySignal } from '@bmg/common/lifecycle';
import { REDIRECT_STATUSES, REDIRECTS_MAX } from '@bmg/common/outbound';
import type { ByteRate, TransferPool } from '@bmg/common/overload';
import type { Call } from '@bmg/common/rpc';
import { needTarget, segment, type Json } from '@bmg/common/upstream';
import type { Target } from '@bmg/proto/common';
import type { DownloadMediaChunk, DownloadMediaRequest } from '@bmg/proto/messaging';
import { parse as parseDisposition } from 'content-disposition';
import type { Dependencies, Needs } from '../dependencies';
import type { MediaHosts } from './hosts';

interface DownloadDependencies
  extends Needs<{ credentials: 'of'; files: 'open' }>, Pick<Dependencies, 'transfer'> {
  mediaHosts: MediaHosts;
  /** Downloads in progress; each holds a connection to the upstream. */
  downloads: TransferPool;
  /** A partner's downloads share it. */
  downloadRate: ByteRate;
}

const CHUNK_MAX_BYTES = 256 * 1024;
/** A URL that has expired in the meantime is requested once more. */
const URLS_MAX = 2;
/** Any other id is unknown: no request to the upstream. */
const MEDIA_ID = /^[A-Za-z0-9_-]{1,64}$/;
const UNKNOWN_TYPE = 'application/octet-stream';

/** Yields type, size and name first, then the bytes. Throws MEDIA_NOT_FOUND, or UPSTREAM_ERROR. */
export async function* downloadMedia(
  deps: DownloadDependencies,
  { target: named, media_id }: DownloadMediaRequest,
  call: Call,
): AsyncGenerator<DownloadMediaChunk> {
  const target = needTarget(named);
  if (!MEDIA_ID.test(media_id)) throw notFound();
  const { partner_id } = target;
  const evicted = new AbortController();
  const transfer = deps.downloads.enter(partner_id, () => evicted.abort());
  if (!transfer) throw unavailable('too many files are being downloaded');
  const signal = anySignal(evicted.signal, call.signal);
  try {
    for await (const chunk of download(deps, target, media_id, { ...call, signal })) {
      await deps.downloadRate.turn(partner_id, chunk.data.length, signal);
      yield chunk;
      // Counted once the reader has taken the chunk.
      transfer.moved(chunk.data.length);
    }
  } catch (error) {
    if (!evicted.signal.aborted) throw error;
    throw unavailable('the file was read too slowly while too many are being downloaded', error);
  } finally {
    transfer.end();
  }
}

/** Fewer than the connections, so that look-ups and uploads always find some. */
export const DOWNLOADS_MAX = 48;
/** A file of the largest size, 100 MB, takes six seconds. */
export const DOWNLOAD_BYTES_PER_S = 16 * 1024 * 1024;

const unavailable = (message: string, cause?: unknown): ApiError =>
  new ApiError('SERVICE_UNAVAILABLE', `${message}: try again in a moment`, { cause });

async function* download(
  deps: DownloadDependencies,
  target: Target,
  media_id: string,
  call: Call,
): AsyncGenerator<DownloadMediaChunk> {
  const { access_token } = await deps.credentials.of(target, call);
  const wanted = { media_id, phone_number_id: target.phone_number_id, access_token };
  const { file, mime_type } = await openMedia(deps, wanted, call);
  try {
    const size_bytes = sizeOf(file);
    yield { mime_type, size_bytes, file_name: nameOf(file), data: Buffer.alloc(0) };
    for await (const bytes of file.body) {
      for (let from = 0; from < bytes.length; from += CHUNK_MAX_BYTES) {
        yield { data: bytes.subarray(from, from + CHUNK_MAX_BYTES) };
      }
    }
  } finally {
    file.body.destroy();
  }
}

interface Wanted {
  media_id: string;
  phone_number_id: string;
  access_token: string;
}

async function openMedia(
  deps: DownloadDependencies,
  wanted: Wanted,
  call: Call,
): Promise<{ file: OpenFile; mime_type: string }> {
  const { transfer, mediaHosts } = deps;
  for (let attempt = 1; ; attempt += 1) {
    const { url, mime_type, file_size } = await readMediaNode(transfer, wanted, call);
    const file = await followed(deps, mediaHosts.check(url), wanted.access_token, call);
    if (file.status === 200 && isPlain(file) && isFile(file, mime_type, file_size)) {
      return { file, mime_type: typeOf(mime_type, file.headers['content-type']) };
    }
    file.body.destroy();
    if (file.status !== 404) throw refused(file.status);
    if (attempt >= URLS_MAX) throw notFound();
  }
}

/** Opens a file where its host's redirects lead; the token goes to hosts of the upstream only. */
async function followed(
  { transfer, mediaHosts, files }: DownloadDependencies,
  from: URL,
  token: string,
  call: Call,
): Promise<OpenFile> {
  let url = from;
  for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects += 1) {
    const file = await transfer.open({ operation: 'GET media', url, token }, call);
    const { location } = file.headers;
    if (!REDIRECT_STATUSES.has(file.status) || typeof location !== 'string') return file;
    file.body.destroy();
    if (!URL.canParse(location, url.href)) break;
    url = new URL(location, url.href);
    if (!mediaHosts.has(url)) return files.open(url.href, call);
  }
  throw new ApiError('UPSTREAM_ERROR', 'the upstream redirects the download without end');
}

export async function readMediaNode(
  transfer: Transfer,
  { media_id, phone_number_id, access_token }: Wanted,
  call: Call,
): Promise<{ url: string; mime_type: unknown; file_size: unknown }> {
  const node: Json = await transfer.json(
    {
      operation: 'GET /{media_id}',
      method: 'GET',
      path: `/${segment(media_id)}?phone_number_id=${encodeURIComponent(phone_number_id)}`,
      token: access_token,
      refusal: notFoundWhere,
    },
    call,
  );
  const { url, mime_type, file_size } = node;
  // The id belongs to another kind of object.
  if (typeof url !== 'string') throw notFound();
  return { url, mime_type, file_size };
}

const INVALID_PARAMETER = 100;
const UNKNOWN_OBJECT_SUBCODE = 33;
const UNKNOWN_OBJECT = 33;

/** The upstream does not distinguish an unknown, an expired and another number's id. */
const notFoundWhere: Refusal = (status, { code, error_subcode }) => {
  const unknown =
    (Number(code) === INVALID_PARAMETER && Number(error_subcode) === UNKNOWN_OBJECT_SUBCODE) ||
    Number(code) === UNKNOWN_OBJECT ||
    status === 404;
  if (!unknown) return undefined;
  return notFound({
    upstream_code: Number.isInteger(code) ? Number(code) : undefined,
    upstream_subcode: Number.isInteger(error_subcode) ? Number(error_subcode) : null,
  });
};

const notFound = (
  upstream: { upstream_code?: number | undefined; upstream_subcode?: number | null } = {},
): ApiError =>
  new ApiError(
    'MEDIA_NOT_FOUND',
    'no media file has this ID for this number, or it has expired',
    upstream,
  );

const refused = (status: number): ApiError =>
  new ApiError('UPSTREAM_ERROR', `the upstream refused the download (HTTP ${status})`, {
    retryable: status >= 500 || status === 429,
  });

/**
 * We request the file uncompressed; a compressed body would have other bytes and another length.
 */
const isPlain = ({ headers }: OpenFile): boolean =>
  ['', 'identity'].includes(
    String(headers['content-encoding'] ?? '')
      .trim()
      .toLowerCase(),
  );

/** A media host reports errors as HTML or with an empty body, even with status 200. */
function isFile(file: OpenFile, mime_type: unknown, file_size: unknown): boolean {
  const type = String(file.headers['content-type'] ?? '').toLowerCase();
  if (type.startsWith('text/html') && !String(mime_type).startsWith('text/html')) return false;
  return !(sizeOf(file) === 0 && Number(file_size) > 0);
}

function sizeOf({ headers }: OpenFile): number | undefined {
  const length = headers['content-length'];
  return typeof length === 'string' && /^\d{1,15}$/.test(length) ? Number(length) : undefined;
}

/** A longer header is not parsed. */
const DISPOSITION_MAX = 2_048;

/** The sender's name of the file. Anything may stand in it, or in its place. */
function nameOf({ headers }: OpenFile): string | undefined {
  const disposition = headers['content-disposition'];
  if (disposition === undefined || disposition.length > DISPOSITION_MAX) return undefined;
  try {
    const { filename } = parseDisposition(disposition).parameters;
    return filename === undefined ? undefined : safeFileName(filename);
  } catch {
    return undefined;
  }
}

/** The first valid content type: it becomes a response header, so it must be well-formed. */
function typeOf(...candidates: unknown[]): string {
  for (const candidate of candidates) {
    const type = typeof candidate === 'string' ? parseMimeType(candidate) : null;
    if (type) return type.full;
  }
  return UNKNOWN_TYPE;
}
