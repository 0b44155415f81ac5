// A partner's logo for the sign-up page: fetched once, recognised by its bytes, and stored, so that
// the page loads nothing from another host. SVG is refused: it can hold scripts.
import { createHash } from 'node:crypto';
import { ApiError } from '@bmg/common/errors';
import {
  FetchFailed,
  guardedFetch,
  UrlRefused,
  type FetchFailure,
  type GuardedAgent,
} from '@bmg/common/outbound';
import type { Pool } from '@bmg/common/overload';
import type { Logo, PartnerLogos } from './store';
import type { Partner } from '../../ground/partners';

/** Pictures of sign-up pages that are fetched at a time: one of each partner. */
export const LOGO_FETCHES = {
  server: 'onboarding',
  reason: 'logo_fetches',
  holder: 'partner',
  max: 8,
  share: 1 / 8,
} as const;

export type LogoOrigin = NonNullable<Partner['logo']>;

interface LogoDependencies {
  partnerLogos: PartnerLogos;
  agent: GuardedAgent;
  /** How many logos are fetched at a time. */
  logoFetches: Pool;
}

const FIELD = 'logo_url';
const LIMIT_BYTES = 256 * 1024;
const TIMEOUT_MS = 5_000;
const ID_LENGTH = 32;

/** The first bytes of a file of each type. */
const TYPES: ReadonlyArray<[type: string, begin: RegExp]> = [
  ['image/png', /^\x89PNG\r\n\x1a\n/],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/webp', /^RIFF[^]{4}WEBP/],
];
const BEGIN_BYTES = 12;

const REASONS: Partial<Record<FetchFailure, string>> = {
  too_large: `is larger than ${LIMIT_BYTES / 1024} KiB`,
  timeout: `did not answer within ${TIMEOUT_MS / 1_000} seconds`,
  http_status: 'did not answer with a picture',
};

/** Fetches and stores the picture; an empty address removes it. Returns the partner's fields. */
export async function setLogo(
  { partnerLogos, agent, logoFetches }: LogoDependencies,
  partner_id: string,
  url: string,
): Promise<LogoOrigin | null> {
  if (url === '') {
    await partnerLogos.remove(partner_id);
    return null;
  }
  return logoFetches.run(partner_id, beingFetched, async () => {
    const logo = await fetchLogo(url, agent);
    await partnerLogos.set({ partner_id, ...logo });
    return { url, id: logo.logo_id };
  });
}

const beingFetched = (): ApiError =>
  new ApiError('RATE_LIMIT_EXCEEDED', 'a logo is being fetched: try again', { retry_after_s: 1 });

async function fetchLogo(
  url: string,
  agent: GuardedAgent,
): Promise<Pick<Logo, 'logo_id' | 'type' | 'data'>> {
  const data = await read(url, agent);
  const begin = data.toString('latin1', 0, BEGIN_BYTES);
  const type = TYPES.find(([, expected]) => expected.test(begin))?.[0];
  if (type === undefined) throw refused('is not a PNG, JPEG or WebP picture', 'wrong_type');
  const logo_id = createHash('sha256').update(data).digest('hex').slice(0, ID_LENGTH);
  return { logo_id, type, data };
}

async function read(url: string, agent: GuardedAgent): Promise<Buffer> {
  try {
    const limits = { timeout_ms: TIMEOUT_MS, max_bytes: LIMIT_BYTES };
    const { body } = await guardedFetch(url, { agent, field: FIELD, ...limits });
    return Buffer.concat((await body.toArray()) as Buffer[]);
  } catch (error) {
    if (error instanceof UrlRefused) {
      throw new ApiError('INVALID_FIELD', error.message, {
        details: { field: FIELD, reason: error.reason },
      });
    }
    if (!(error instanceof FetchFailed)) throw error;
    throw refused(REASONS[error.reason] ?? 'could not be fetched', error.reason);
  }
}

const refused = (text: string, reason: string): ApiError =>
  new ApiError('INVALID_FIELD', `${FIELD} ${text}`, { details: { field: FIELD, reason } });
