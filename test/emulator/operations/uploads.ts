// Resumable uploads of template header samples: a session on the app, then raw bytes with the
// authorization scheme OAuth, then a handle.
import { createHash, type Hash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { routesOf, type Call } from '../core';
import { invalid, upstreamError } from '../errors';
import { BodySource } from '../http';
import { TooLarge } from '../media-store';
import type { JsonObject, Upload } from '../types';
import { parameter, requireOneOf } from './parameters';

const FILE_TYPES = ['application/pdf', 'image/jpeg', 'image/jpg', 'image/png', 'video/mp4'];
const FILE_MAX_BYTES = 100 * 1024 * 1024;
const UPLOADS_MAX = 1000;

export const uploadRoutes = [
  ...routesOf(null, { 'POST /:app/uploads': open, 'GET /:upload': progress }),
  ...routesOf(null, { 'POST /:upload': receive }, 'stream'),
];

function open(call: Call): JsonObject {
  const file_length = Number(parameter(call, 'file_length'));
  const file_type = String(parameter(call, 'file_type'));
  if (!Number.isInteger(file_length) || file_length < 1) {
    throw invalid('The parameter file_length is required.');
  }
  if (file_length > FILE_MAX_BYTES) throw invalid('Param file_length is too large');
  requireOneOf(file_type, 'file_type', FILE_TYPES);
  const name = Buffer.from(`attachment:${call.core.ids.request()}`).toString('base64url');
  const upload: Upload = {
    id: `upload:${name}`,
    token: call.token.token,
    file_type,
    file_length,
    offset: 0,
    path: call.core.media.newPath(),
    handle: null,
  };
  call.state.uploads.set(upload.id, upload);
  dropOldest(call);
  return { id: `${upload.id}?sig=${call.core.media.hashFor(upload.id, file_length)}` };
}

function dropOldest({ core, state }: Call): void {
  if (state.uploads.size <= UPLOADS_MAX) return;
  const [id, upload] = state.uploads.entries().next().value as [string, Upload];
  state.uploads.delete(id);
  void core.media.remove(upload.path);
}

function uploadOf(call: Call): Upload {
  const upload = call.state.uploads.get(call.segments[0] as string) as Upload;
  const scheme = (call.request.headers.authorization ?? '').split(' ', 1)[0]?.toLowerCase();
  if (scheme !== 'oauth') {
    throw upstreamError(190, 'Invalid OAuth access token - the scheme word OAuth is expected');
  }
  const expected = call.core.media.hashFor(upload.id, upload.file_length);
  if (call.query.get('sig') !== expected || call.token.token !== upload.token) {
    throw invalid('The upload session is not valid for this request');
  }
  return upload;
}

function progress(call: Call): JsonObject {
  const { id, offset } = uploadOf(call);
  return { id, file_offset: String(offset) };
}

async function receive(call: Call): Promise<JsonObject> {
  const upload = uploadOf(call);
  const offset = Number(call.request.headers['file_offset'] ?? NaN);
  if (offset !== upload.offset) {
    throw invalid(`Header file_offset must be ${upload.offset}`);
  }
  const source = new BodySource(call.request);
  const hash = createHash('sha256');
  try {
    await pipeline(
      countInto(upload, source.bytes(), hash),
      createWriteStream(upload.path, { flags: offset === 0 ? 'w' : 'a' }),
    );
    call.entry.body = { size: upload.offset - offset, sha256: hash.digest('hex') };
  } catch (error) {
    await source.discard();
    if (error instanceof TooLarge) throw invalid('More bytes than file_length were sent');
    throw error;
  }
  if (upload.offset < upload.file_length) {
    throw upstreamError(2, 'The upload is not complete', { transient: true });
  }
  const type = Buffer.from(upload.file_type).toString('base64');
  upload.handle ??= `4::${type}:${call.core.ids.request()}`;
  return { h: upload.handle };
}

async function* countInto(
  upload: Upload,
  source: AsyncIterable<Buffer>,
  hash: Hash,
): AsyncGenerator<Buffer> {
  for await (const chunk of source) {
    if (upload.offset + chunk.length > upload.file_length) throw new TooLarge();
    upload.offset += chunk.length;
    hash.update(chunk);
    yield chunk;
  }
}
