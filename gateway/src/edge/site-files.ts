// The files of a site that Vite has compiled, with their names by content: read and compressed at the
// start, then cached by browsers for ever.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Context } from 'koa';

const TYPES: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};
/** Of a site's pages and files. */
export const SITE_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
};
const FILE_HEADERS = {
  ...SITE_HEADERS,
  'Cache-Control': 'public, max-age=31536000, immutable',
  Vary: 'Accept-Encoding',
};

export interface SiteFile {
  type: string;
  bytes: Buffer;
  gzip: Buffer;
}

/** The files in `assets/` of a compiled site, by name; empty where it is not built. */
export function readSiteFiles(site: string): Map<string, SiteFile> {
  const folder = join(site, 'assets');
  if (!existsSync(folder)) return new Map();
  return new Map(
    readdirSync(folder).map((name) => {
      const bytes = readFileSync(join(folder, name));
      const type = TYPES[extname(name)] ?? 'application/octet-stream';
      return [name, { type, bytes, gzip: gzipSync(bytes) }];
    }),
  );
}

export function answerFile(context: Context, { type, bytes, gzip }: SiteFile): void {
  context.set(FILE_HEADERS);
  context.set('Content-Type', type);
  const zipped = context.acceptsEncodings('gzip', 'identity') === 'gzip';
  if (zipped) context.set('Content-Encoding', 'gzip');
  context.body = zipped ? gzip : bytes;
}
