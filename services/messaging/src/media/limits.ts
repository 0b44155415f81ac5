// The supported media types and their size limits (contract 7.5). Pure: it reads a content type and
// the first bytes of a file.
import { invalidField } from '@bmg/common/errors';
import { MEDIA_TYPES, parseMimeType } from '@bmg/common/files';

export type MediaKind = keyof typeof MEDIA_TYPES;

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

const LIMITS: Record<MediaKind, number> = {
  image: 5 * MB,
  video: 16 * MB,
  audio: 16 * MB,
  document: 100 * MB,
  sticker: STICKER_ANIMATED_LIMIT_BYTES,
};

const KIND_BY_TYPE: ReadonlyMap<string, MediaKind> = new Map(
  (Object.keys(MEDIA_TYPES) as MediaKind[]).flatMap((kind) =>
    MEDIA_TYPES[kind].map((type) => [type, kind] as const),
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
  return { kind, mime_type: type.full, limit_bytes: LIMITS[kind] };
}

export const limitOfKind = (kind: MediaKind): number => LIMITS[kind];

/**
 * Maximum size of this file: only an animated sticker may use the larger of the two sticker limits.
 */
export const limitOf = ({ kind, limit_bytes }: MediaRule, head: Uint8Array): number =>
  kind === 'sticker' && !isAnimatedWebp(head) ? STICKER_STATIC_LIMIT_BYTES : limit_bytes;

// The extended WebP header: `RIFF`, the size, `WEBP`, `VP8X`, the chunk's size, then a byte of
// flags. Only this form can be animated.
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
