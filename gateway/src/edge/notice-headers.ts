// The headers of every response: versions and notices (contract 16.2), and the use of HTTPS. They
// change only with a release, so that they are built once.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { API_VERSION, highestSeverity, NOTICES } from '@bmg/common/notices';

/** The path is right from `src` and from `dist`. */
const MANIFEST = join(__dirname, '../../package.json');

/** The release of the software; the version of the API is the contract's. */
export const RELEASE = (JSON.parse(readFileSync(MANIFEST, 'utf8')) as { version: string }).version;

export const noticeHeaders = (public_url: string): Record<string, string> => {
  const level = highestSeverity(NOTICES);
  return {
    'X-Service-Api-Version': API_VERSION,
    'X-Service-Release': RELEASE,
    'X-Service-Changelog': `${public_url}/changelog`,
    ...(level && {
      'X-Service-Notice': NOTICES.map(({ id }) => id).join(','),
      'X-Service-Notice-Level': level,
    }),
  };
};

const A_YEAR_S = 31_536_000;

/** Browsers use only HTTPS from then on, if partners reach the gateway over it. */
export const transportHeaders = (public_url: string): Record<string, string> =>
  new URL(public_url).protocol === 'https:'
    ? { 'Strict-Transport-Security': `max-age=${A_YEAR_S}` }
    : {};
