// The supported media types and their size limits (contract, Limits). Pure: it reads a content type and the
// first bytes of a file.
import { invalidField } from '@bmg/common/errors';
import { parseMimeType } from '@bmg/common/files';

export type MediaKind = 'image' | 'video' | 'audio' | 'document' | 'sticker';

export interface MediaRule {
  kind: MediaKind;
  /** The content type, as passed to the upstream. */
  mime_type: string;
  /** Maximum size of a file of this type; `limitOf` may lower it. */
  limit_bytes: number;
}

const KB = 1_024;
const MB = 1_048_576;

const STICKER_STATIC_LIMIT_BYTES = 100 * KB;
const STICKER_ANIMATED_LIMIT_BYTES = 500 * KB;

const KINDS: Record<MediaKind, { limit_bytes: number; types: readonly string[] }> = {
  image: { limit_bytes: 5 * MB, types: ['image/jpeg', 'image/png'] },
  video: { limit_bytes: 16 * MB, types: ['video/mp4', 'video/3gpp'] },
  audio: {
    limit_bytes: 16 * MB,
    types: ['audio/aac', 'audio/amr', 'audio/mpeg', 'audio/mp4', 'audio/ogg'],
  },
  document: {
    limit_bytes: 100 * MB,
    types: [
      'application/pdf',
      'application/msword',
      'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
      'application/vnd.ms-excel',
      'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
      'application/vnd.ms-powerpoint',
      'application/vnd.openxmlformats-officedocument.presentationml.presentation',
      'text/plain',
    ],
  },
  sticker: { limit_bytes: STICKER_ANIMATED_LIMIT_BYTES, types: ['image/webp'] },
};

const KIND_BY_TYPE: ReadonlyMap<string, MediaKind> = new Map(
  (Object.keys(KINDS) as MediaKind[]).flatMap((kind) =>
    KINDS[kind].types.map((type) => [type, kind] as const),
  ),
);

export const SUPPORTED_TYPES: readonly string[] = [...KIND_BY_TYPE.keys()];

/** Throws INVALID_FIELD for an unsupported type. */
export function mediaRule(mime_type: string): MediaRule {
  const type = parseMimeType(mime_type);
  const kind = type ? KIND_BY_TYPE.get(type.essence) : undefined;
  if (!type || !kind) {
    throw invalidField('mime_type', 'is not supported', { supported: SUPPORTED_TYPES });
  }
  return { kind, mime_type: type.full, limit_bytes: KINDS[kind].limit_bytes };
}

/** Maximum size of any file of a kind. */
export const limitOfKind = (kind: MediaKind): number => KINDS[kind].limit_bytes;

/** Maximum size of this file: only an animated sticker may use the larger of the two sticker limits. */
export const limitOf = ({ kind, limit_bytes }: MediaRule, head: Uint8Array): number =>
  kind === 'sticker' && !isAnimatedWebp(head) ? STICKER_STATIC_LIMIT_BYTES : limit_bytes;

// The extended WebP header: `RIFF`, the size, `WEBP`, `VP8X`, the chunk's size, then a byte of flags.
// Only this form can be animated.
const FLAGS_AT = 20;
const ANIMATION_FLAG = 0x02;

export function isAnimatedWebp(head: Uint8Array): boolean {
  const text = (from: number, to: number): string =>
    Buffer.from(head.subarray(from, to)).toString('latin1');
  return (
    text(0, 4) === 'RIFF' &&
    text(8, 16) === 'WEBPVP8X' &&
    ((head[FLAGS_AT] ?? 0) & ANIMATION_FLAG) !== 0
  );
}
