// The size limits of template header samples (contract 7.5).
import { invalidField } from '@bmg/common/errors';
import { HEADER_TYPES, parseMimeType } from '@bmg/common/files';

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
