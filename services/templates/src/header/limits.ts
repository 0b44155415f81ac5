// The file types and size limits of template header samples (contract, Limits: Template header sample). The
// types are those that the upstream's upload sessions accept.
import { invalidField } from '@bmg/common/errors';
import { parseMimeType } from '@bmg/common/files';

const MB = 1_048_576;
const IMAGE_LIMIT_BYTES = 5 * MB;
const VIDEO_LIMIT_BYTES = 16 * MB;
const DOCUMENT_LIMIT_BYTES = 100 * MB;

const LIMITS: ReadonlyMap<string, number> = new Map([
  ['image/jpeg', IMAGE_LIMIT_BYTES],
  ['image/jpg', IMAGE_LIMIT_BYTES],
  ['image/png', IMAGE_LIMIT_BYTES],
  ['video/mp4', VIDEO_LIMIT_BYTES],
  ['application/pdf', DOCUMENT_LIMIT_BYTES],
]);

/** Throws INVALID_FIELD for a type that cannot be a header sample. */
export function headerRule(mime_type: string): { mime_type: string; limit_bytes: number } {
  const essence = parseMimeType(mime_type)?.essence ?? '';
  const limit_bytes = LIMITS.get(essence);
  if (limit_bytes === undefined) {
    throw invalidField('mime_type', 'is not supported', { supported: [...LIMITS.keys()] });
  }
  // Upload sessions accept a type without parameters.
  return { mime_type: essence, limit_bytes };
}
