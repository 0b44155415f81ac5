// POST /templates/upload-header: fetches the sample file from the partner and uploads it through
// the upstream's resumable upload API, which needs the length first and uses the authorization
// scheme `OAuth`. Samples have size limits (contract 7.5).
import { ApiError, invalidField } from '@bmg/common/errors';
import {
  fileNameOf,
  type FileFetcher,
  type SpooledFile,
  type Transfer,
  HEADER_TYPES,
  parseMimeType,
} from '@bmg/common/files';
import type { Call } from '@bmg/common/rpc';
import type { Credentials } from '@bmg/common/directory';
import { segment, needTarget } from '@bmg/common/upstream';
import type { UploadHeaderRequest, UploadHeaderResponse } from '@bmg/proto/templates';

export interface HeaderDependencies {
  credentials: Pick<Credentials, 'of'>;
  files: FileFetcher;
  transfer: Transfer;
  /** UPSTREAM_APP_ID: upload sessions belong to an app. */
  app_id: string | undefined;
}

export async function uploadHeader(
  { credentials, files, transfer, app_id }: HeaderDependencies,
  request: UploadHeaderRequest,
  call: Call,
): Promise<UploadHeaderResponse> {
  const { mime_type, limit_bytes } = headerRule(request.mime_type);
  const target = needTarget(request.target);
  if (app_id === undefined) {
    throw new ApiError(
      'PLATFORM_NOT_CONFIGURED',
      'header sample uploads are not configured on this service',
    );
  }
  const { access_token: token } = await credentials.of(target, call);
  const { url } = request;
  const file = await files.fetch(
    { url, field: 'url', limit_bytes, mime_type, partner_id: target.partner_id },
    call,
  );
  try {
    const upload = { app_id, token, mime_type, file_name: fileNameOf(url), file };
    const session = await openSession(transfer, upload, call);
    return { header_handle: await send(transfer, upload, session, call) };
  } finally {
    await file.close();
  }
}

interface Upload {
  app_id: string;
  token: string;
  mime_type: string;
  file_name: string;
  file: SpooledFile;
}

/** A session id becomes a path: `upload:` and further characters, possibly with a query. */
const SESSION = /^upload:[\u0021-\u007e]+$/;
const LEAVES_THE_PATH = /[#\\]|\.\.|\/\//;

async function openSession(
  transfer: Transfer,
  { app_id, token, mime_type, file_name, file }: Upload,
  call: Call,
): Promise<string> {
  const query = new URLSearchParams({
    file_name,
    file_length: String(file.size_bytes),
    file_type: mime_type,
  });
  const { id } = await transfer.json(
    {
      operation: 'POST /{app_id}/uploads',
      method: 'POST',
      path: `/${segment(app_id)}/uploads?${query}`,
      token,
      scheme: 'OAuth',
    },
    call,
  );
  if (typeof id === 'string' && SESSION.test(id) && !LEAVES_THE_PATH.test(id)) return id;
  throw unusable('returned no valid upload session');
}

async function send(
  transfer: Transfer,
  { token, mime_type, file }: Upload,
  session: string,
  call: Call,
): Promise<string> {
  const { h } = await transfer.json(
    {
      operation: 'POST /{upload}',
      method: 'POST',
      // Unescaped: the id holds a signature over its exact spelling.
      path: `/${session}`,
      token,
      scheme: 'OAuth',
      headers: { 'content-type': mime_type, file_offset: '0' },
      body: { length_bytes: file.size_bytes, chunks: file.chunks() },
    },
    call,
  );
  if (typeof h === 'string' && h !== '') return h;
  throw unusable('accepted the file but returned no handle');
}

const unusable = (problem: string): ApiError =>
  new ApiError('UPSTREAM_ERROR', `the upstream ${problem}`, { retryable: true });

const MB = 1_048_576;
const IMAGE_LIMIT_BYTES = 5 * MB;
const VIDEO_LIMIT_BYTES = 16 * MB;
const DOCUMENT_LIMIT_BYTES = 100 * MB;

const LIMITS: Record<(typeof HEADER_TYPES)[number], number> = {
  'image/jpeg': IMAGE_LIMIT_BYTES,
  'image/jpg': IMAGE_LIMIT_BYTES,
  'image/png': IMAGE_LIMIT_BYTES,
  'video/mp4': VIDEO_LIMIT_BYTES,
  'application/pdf': DOCUMENT_LIMIT_BYTES,
};

/** Throws INVALID_FIELD for a type that cannot be a header sample. */
export function headerRule(mime_type: string): { mime_type: string; limit_bytes: number } {
  const essence = parseMimeType(mime_type)?.essence ?? '';
  const type = HEADER_TYPES.find((known) => known === essence);
  if (!type) throw invalidField('mime_type', 'is not supported', { supported: HEADER_TYPES });
  // Upload sessions accept a type without parameters.
  return { mime_type: type, limit_bytes: LIMITS[type] };
}
