// Finds out whether the upstream would take the file of a media message: its keys, type and size.
import { ApiError } from '@bmg/common/errors';
import { parseMimeType } from '@bmg/common/files';
import type { Pool } from '@bmg/common/overload';
import type { Call } from '@bmg/common/rpc';
import type { Json } from '@bmg/common/upstream';
import type { Target } from '@bmg/proto/common';
import { limitOfKind, type MediaKind, mediaRule, readMediaNode } from '../media';
import { reason, upstreamRefusal, type Reason } from '@bmg/common/preflight';
import type { Needs, Dependencies } from '../dependencies';

export interface MediaDependencies
  extends Needs<{ files: 'look' }>, Pick<Dependencies, 'transfer'> {
  /** Look-ups of links in progress: the server of the file decides how long each takes. */
  looks: Pool;
}

export const LOOKS_MAX = 64;
/** The share of one partner: 8 look-ups. */
export const LOOKS_SHARE = 0.125;

/** Contract 7.1; the upstream refuses other keys by name. */
const KEYS: Readonly<Record<string, readonly string[]>> = {
  image: ['id', 'link', 'caption'],
  video: ['id', 'link', 'caption'],
  audio: ['id', 'link', 'voice'],
  document: ['id', 'link', 'caption', 'filename'],
  sticker: ['id', 'link'],
};
const CAPTION_MAX = 1_024;
const LOOK_LIMIT_MS = 5_000;
const FILE_MAX_BYTES = 104_857_600;

export async function mediaReasons(
  deps: MediaDependencies,
  message: { type: string; media: Json; target: Target; access_token: string },
  call: Call,
): Promise<Reason[]> {
  const { type, media } = message;
  const wrong = keyFaults(type, media);
  if (wrong.length > 0) return wrong;
  try {
    const facts =
      typeof media['link'] === 'string'
        ? await lookAt(deps, media['link'], message, call)
        : await readUploaded(deps, message, call);
    return factFaults(type as MediaKind, facts);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return [mediaFailure(error)];
  }
}

function keyFaults(type: string, media: Json): Reason[] {
  const unknown = Object.keys(media).filter((key) => !KEYS[type]?.includes(key));
  if (unknown.length > 0) {
    return unknown.map((key) =>
      upstreamRefusal(100, `${key} is not a key of ${type}`, `media.${key}`),
    );
  }
  const { caption } = media;
  if (typeof caption === 'string' && caption.length > CAPTION_MAX) {
    return [upstreamRefusal(131_009, `is longer than ${CAPTION_MAX} characters`, 'media.caption')];
  }
  return [];
}

interface Facts {
  field: string;
  mime_type: string | undefined;
  size_bytes: number | undefined;
}

async function lookAt(
  { files, looks }: MediaDependencies,
  url: string,
  { target: { partner_id } }: { target: Target },
  call: Call,
): Promise<Facts> {
  const deadline = Math.min(call.deadline, Date.now() + LOOK_LIMIT_MS);
  const field = 'media.link';
  const file = { url, field, limit_bytes: FILE_MAX_BYTES };
  const look = () => files.look(file, { ...call, deadline });
  return { field, ...(await looks.run(partner_id, tooManyLooks, look)) };
}

const tooManyLooks = (): ApiError =>
  new ApiError(
    'RATE_LIMIT_EXCEEDED',
    'the link was not looked up: too many links are being looked up, try again in a moment',
  );

async function readUploaded(
  { transfer }: MediaDependencies,
  { media, target, access_token }: { media: Json; target: Target; access_token: string },
  call: Call,
): Promise<Facts> {
  const { phone_number_id } = target;
  const wanted = { media_id: String(media['id']), phone_number_id, access_token };
  const { mime_type, file_size } = await readMediaNode(transfer, wanted, call);
  return {
    field: 'media.id',
    mime_type: typeof mime_type === 'string' ? mime_type : undefined,
    size_bytes: file_size === undefined ? undefined : Number(file_size),
  };
}

function factFaults(type: MediaKind, { field, mime_type, size_bytes }: Facts): Reason[] {
  const essence = mime_type === undefined ? undefined : parseMimeType(mime_type)?.essence;
  if (essence !== undefined && kindOf(essence) !== type) {
    return [upstreamRefusal(131_053, `leads to a file of the type ${essence}, not ${type}`, field)];
  }
  const limit_bytes = limitOfKind(type);
  if (size_bytes !== undefined && size_bytes > limit_bytes) {
    return [
      reason('no', {
        code: 'MEDIA_TOO_LARGE',
        field,
        message: `leads to a file of ${size_bytes} bytes: the limit is ${limit_bytes}`,
        upstream_code: 131_053,
      }),
    ];
  }
  return essence === undefined
    ? [
        reason('unknown', {
          code: 'MEDIA_UNKNOWN',
          field,
          message: 'the server of the file does not report its type',
        }),
      ]
    : [];
}

function kindOf(essence: string): string | undefined {
  try {
    return mediaRule(essence).kind;
  } catch {
    return undefined;
  }
}

/** A URL that we refuse or cannot reach may still be reachable for the upstream. */
function mediaFailure(error: ApiError): Reason {
  const { code, message } = error;
  if (code === 'MEDIA_NOT_FOUND') {
    return upstreamRefusal(131_009, 'there is no such file', 'media.id');
  }
  if (code === 'MEDIA_TOO_LARGE') {
    return reason('no', { code, message, field: 'media.link', upstream_code: 131_053 });
  }
  return reason('unknown', { code: 'MEDIA_UNKNOWN', message, field: 'media' });
}
