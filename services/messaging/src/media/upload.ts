// POST /media/upload: fetches the partner's file completely, checks it, then streams it to the
// upstream.
import { ApiError } from '@bmg/common/errors';
import { fileNameOf, multipart, tooLarge } from '@bmg/common/files';
import type { Call } from '@bmg/common/rpc';
import { idOf, needTarget, segment } from '@bmg/common/upstream';
import type { UploadMediaRequest, UploadMediaResponse } from '@bmg/proto/messaging';
import { limitOf, mediaRule } from './limits';
import type { Needs, Dependencies } from '../dependencies';

type UploadDependencies = Needs<{ credentials: 'of' }> & Pick<Dependencies, 'files' | 'transfer'>;

export async function uploadMedia(
  { credentials, files, transfer }: UploadDependencies,
  request: UploadMediaRequest,
  call: Call,
): Promise<UploadMediaResponse> {
  // Contract 7.2: an unsupported type is refused before any fetch.
  const rule = mediaRule(request.mime_type);
  const target = needTarget(request.target);
  const { access_token } = await credentials.of(target, call);
  const { url } = request;
  const { partner_id } = target;
  const { limit_bytes, mime_type } = rule;
  const file = await files.fetch({ url, field: 'url', limit_bytes, mime_type, partner_id }, call);
  try {
    const of_file = limitOf(rule, file.head);
    if (file.size_bytes > of_file) throw tooLarge(file.size_bytes, of_file);
    const { content_type, ...body } = multipart(
      { messaging_product: 'whatsapp', type: mime_type },
      {
        name: 'file',
        filename: fileNameOf(url),
        content_type: mime_type,
        size_bytes: file.size_bytes,
        chunks: file.chunks(),
      },
    );
    const { id } = await transfer.json(
      {
        operation: 'POST /{phone_number_id}/media',
        method: 'POST',
        path: `/${segment(target.phone_number_id)}/media`,
        token: access_token,
        headers: { 'content-type': content_type },
        body,
      },
      call,
    );
    const media_id = idOf(id);
    if (media_id !== undefined) return { media_id };
  } finally {
    await file.close();
  }
  throw new ApiError('UPSTREAM_ERROR', 'the upstream accepted the file but returned no media ID', {
    retryable: true,
  });
}
