// The release of the software, which differs from the version of the API: that is the contract's.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The path is right from `src` and from `dist`. */
const MANIFEST = join(__dirname, '../../package.json');

export const RELEASE = (JSON.parse(readFileSync(MANIFEST, 'utf8')) as { version: string }).version;
