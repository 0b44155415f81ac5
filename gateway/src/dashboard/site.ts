// Serves the console, the single-page application that `make build` compiles to gateway/dashboard/dist:
// its hashed files, and its page at every other address below /dashboard.
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import type Router from '@koa/router';
import type { Context } from 'koa';
import type { Logger } from '@bmg/common/telemetry';
import { notFound } from '../edge/observe';
import type { State } from '../edge/state';

/** The same from src/ and from dist/. */
const FOLDER = resolve(__dirname, '../../dashboard/dist/site');
const ROUTE = '/dashboard';
const NONCE_BYTES = 16;
const TYPES: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};
const SHARED_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
};
/** Their names change with their content. */
const ASSET_HEADERS = {
  ...SHARED_HEADERS,
  'Cache-Control': 'public, max-age=31536000, immutable',
  Vary: 'Accept-Encoding',
};

interface Asset {
  type: string;
  bytes: Buffer;
  gzip: Buffer;
}

/** The component library adds style elements: the nonce of the answer allows these and no others. */
const policyOf = (nonce: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'self'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

export function consoleSite(public_url: string, log: Logger): (router: Router<State>) => void {
  const page = readPage(public_url);
  const assets = page === undefined ? new Map<string, Asset>() : readAssets();
  if (page === undefined) log.warn({ folder: FOLDER }, 'the console is not built: make build');
  return (router) => {
    router.get(`${ROUTE}/assets/:name`, (context: Context) => {
      (context.state as State).route = `${ROUTE}/assets`;
      const asset = assets.get(String(context['params'].name));
      if (!asset) throw notFound();
      answerAsset(context, asset);
    });
    router.get(`${ROUTE}{/*path}`, (context: Context) => {
      (context.state as State).route = ROUTE;
      if (page === undefined || context.path.startsWith(`${ROUTE}/api/`)) throw notFound();
      answerPage(context, page);
    });
  };
}

function answerAsset(context: Context, { type, bytes, gzip }: Asset): void {
  context.set(ASSET_HEADERS);
  context.set('Content-Type', type);
  const zipped = context.acceptsEncodings('gzip', 'identity') === 'gzip';
  if (zipped) context.set('Content-Encoding', 'gzip');
  context.body = zipped ? gzip : bytes;
}

function answerPage(context: Context, page: string): void {
  const nonce = randomBytes(NONCE_BYTES).toString('base64url');
  context.set({
    ...SHARED_HEADERS,
    'Cache-Control': 'no-store',
    'Content-Security-Policy': policyOf(nonce),
    'Content-Type': 'text/html; charset=utf-8',
    'Cross-Origin-Opener-Policy': 'same-origin-allow-popups',
    'X-Frame-Options': 'DENY',
    'X-Robots-Tag': 'noindex',
  });
  context.body = page.replaceAll('__NONCE__', nonce);
}

/** Undefined where the console is not built. The page's base is the path under which browsers reach it. */
function readPage(public_url: string): string | undefined {
  const file = join(FOLDER, 'index.html');
  if (!existsSync(file)) return undefined;
  const base = `${new URL(public_url).pathname.replace(/\/+$/, '')}${ROUTE}/`;
  return readFileSync(file, 'utf8').replace('<base href="/dashboard/"', `<base href="${base}"`);
}

function readAssets(): Map<string, Asset> {
  const folder = join(FOLDER, 'assets');
  return new Map(
    readdirSync(folder).map((name) => {
      const bytes = readFileSync(join(folder, name));
      const type = TYPES[extname(name)] ?? 'application/octet-stream';
      return [name, { type, bytes, gzip: gzipSync(bytes) }];
    }),
  );
}
