// Serves a site that Vite compiled. File names contain a hash of the content, so browsers cache the
// files forever; they are read and compressed once, at startup. Each page gets a fresh nonce.
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type Router from '@koa/router';
import type { Context } from 'koa';
import { notFound } from './observe';
import type { State } from './state';

const TYPES: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};
/** Headers of all pages and files of a site. */
const SITE_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
};
const NONCE_BYTES = 16;
const FILE_HEADERS = {
  ...SITE_HEADERS,
  'Cache-Control': 'public, max-age=31536000, immutable',
  Vary: 'Accept-Encoding',
};

/** The files in `assets/` of a compiled site, by name; empty if it is not built. */
export function readSiteFiles(site: string) {
  const folder = join(site, 'assets');
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return new Map(
    names.map((name) => {
      const bytes = readFileSync(join(folder, name));
      const type = TYPES[extname(name)] ?? 'application/octet-stream';
      return [name, { type, bytes, gzip: gzipSync(bytes) }] as const;
    }),
  );
}

/** GET `<root>/assets/<name>`. */
export function serveFiles(
  router: Router<State>,
  root: string,
  files: ReturnType<typeof readSiteFiles>,
): void {
  router.get(`${root}/assets/:name`, (context: Context) => {
    (context.state as State).route = `${root}/assets`;
    const file = files.get(String(context['params'].name));
    if (!file) throw notFound();
    context.set(FILE_HEADERS);
    context.set('Content-Type', file.type);
    answerZipped(context, file.bytes, file.gzip);
  });
}

/** Placeholder in a page for the nonce that the content security policy of the response allows. */
export const NONCE = '__NONCE__';

export function answerPage(
  context: Context,
  page: string,
  policyOf: (nonce: string) => string,
): void {
  const nonce = randomBytes(NONCE_BYTES).toString('base64url');
  context.set({
    ...SITE_HEADERS,
    'Cache-Control': 'no-store',
    'Content-Security-Policy': policyOf(nonce),
    'Content-Type': 'text/html; charset=utf-8',
  });
  context.body = page.replaceAll(NONCE, nonce);
}

/** Sends the compressed body if the browser accepts it; varies by `Accept-Encoding`. */
export function answerZipped(context: Context, plain: Buffer | string, gzip: Buffer): void {
  const zipped = context.acceptsEncodings('gzip', 'identity') === 'gzip';
  if (zipped) context.set('Content-Encoding', 'gzip');
  context.body = zipped ? gzip : plain;
}
