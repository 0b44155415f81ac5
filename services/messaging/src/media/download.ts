// Downloading: the upstream names a short-lived address for a media id, and the bytes behind it are passed
// on as they come. Nothing is kept.
import { ApiError } from '@bmg/common/errors';
import { parseMimeType, type OpenFile, type Refusal, type Transfer } from '@bmg/common/files';
import type { Call } from '@bmg/common/rpc';
import type { Credentials } from '@bmg/common/directory';
import { needTarget, segment, type Json } from '@bmg/common/upstream';
import type { DownloadMediaChunk, DownloadMediaRequest } from '@bmg/proto/messaging';
import type { MediaHosts } from './hosts';

export interface DownloadDependencies {
  credentials: Pick<Credentials, 'of'>;
  transfer: Transfer;
  mediaHosts: MediaHosts;
}

const CHUNK_MAX_BYTES = 256 * 1024;
/** An address that has expired in the meantime is asked for anew, once. */
const ADDRESSES_MAX = 2;
/** What cannot be an id is as unknown as one that was never given. */
const MEDIA_ID = /^[A-Za-z0-9_-]{1,64}$/;
const UNKNOWN_TYPE = 'application/octet-stream';

/** The first chunk carries the head, the following ones bytes. */
export async function* downloadMedia(
  deps: DownloadDependencies,
  { target: named, media_id }: DownloadMediaRequest,
  call: Call,
): AsyncGenerator<DownloadMediaChunk> {
  const target = needTarget(named);
  if (!MEDIA_ID.test(media_id)) throw notFound();
  const { access_token } = await deps.credentials.of(target, call);
  const wanted = { media_id, phone_number_id: target.phone_number_id, access_token };
  const { file, mime_type } = await openMedia(deps, wanted, call);
  try {
    const size_bytes = sizeOf(file);
    yield { mime_type, size_bytes, data: Buffer.alloc(0) };
    for await (const bytes of file.body) {
      for (let from = 0; from < bytes.length; from += CHUNK_MAX_BYTES) {
        yield {
          mime_type: undefined,
          size_bytes: undefined,
          data: bytes.subarray(from, from + CHUNK_MAX_BYTES),
        };
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
  { transfer, mediaHosts }: DownloadDependencies,
  wanted: Wanted,
  call: Call,
): Promise<{ file: OpenFile; mime_type: string }> {
  for (let addresses = 1; ; addresses += 1) {
    const { url, mime_type, file_size } = await readNode(transfer, wanted, call);
    const file = await transfer.open(
      { operation: 'GET media', url: mediaHosts.check(url), token: wanted.access_token },
      call,
    );
    if (file.status === 200 && isPlain(file) && isFile(file, mime_type, file_size)) {
      return { file, mime_type: typeOf(mime_type, file.headers['content-type']) };
    }
    file.body.destroy();
    if (file.status !== 404) throw refused(file.status);
    if (addresses >= ADDRESSES_MAX) throw notFound();
  }
}

async function readNode(
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
  // An id of something else than a medium.
  if (typeof url !== 'string') throw notFound();
  return { url, mime_type, file_size };
}

const INVALID_PARAMETER = 100;
const UNKNOWN_OBJECT_SUBCODE = 33;
const UNKNOWN_OBJECT = 33;

/** Unknown, expired, or of another number: the upstream does not tell them apart. */
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
    'there is no such media for this number, or it has expired',
    upstream,
  );

const refused = (status: number): ApiError =>
  new ApiError('UPSTREAM_ERROR', `the upstream did not hand out the file (HTTP ${status})`, {
    retryable: status >= 500 || status === 429,
  });

/** We asked for the file as it is; compressed, its bytes and its length would be other ones. */
const isPlain = ({ headers }: OpenFile): boolean =>
  ['', 'identity'].includes(
    String(headers['content-encoding'] ?? '')
      .trim()
      .toLowerCase(),
  );

/** The media host explains itself in HTML, or says nothing at all: neither is the file. */
function isFile(file: OpenFile, mime_type: unknown, file_size: unknown): boolean {
  const type = String(file.headers['content-type'] ?? '').toLowerCase();
  if (type.startsWith('text/html') && !String(mime_type).startsWith('text/html')) return false;
  return !(sizeOf(file) === 0 && Number(file_size) > 0);
}

function sizeOf({ headers }: OpenFile): number | undefined {
  const length = headers['content-length'];
  return typeof length === 'string' && /^\d{1,15}$/.test(length) ? Number(length) : undefined;
}

/** The medium's own type comes first; it goes into a header, so it must look like a type. */
function typeOf(...candidates: unknown[]): string {
  for (const candidate of candidates) {
    const type = typeof candidate === 'string' ? parseMimeType(candidate) : null;
    if (type) return type.full;
  }
  return UNKNOWN_TYPE;
}
