// Serves the console, the single-page application that `make build` compiles to gateway/dashboard/dist:
// its hashed files, and its page at every other address below /dashboard.
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type Router from '@koa/router';
import type { Context } from 'koa';
import type { Logger } from '@bmg/common/telemetry';
import { notFound } from '../edge/observe';
import { answerFile, readSiteFiles, SITE_HEADERS } from '../edge/site-files';
import type { State } from '../edge/state';

/** The same from src/ and from dist/. */
const FOLDER = resolve(__dirname, '../../dashboard/dist/site');
const ROUTE = '/dashboard';
const NONCE_BYTES = 16;
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
  const files = readSiteFiles(FOLDER);
  if (page === undefined) log.warn({ folder: FOLDER }, 'the console is not built: make build');
  return (router) => {
    router.get(`${ROUTE}/assets/:name`, (context: Context) => {
      (context.state as State).route = `${ROUTE}/assets`;
      const file = files.get(String(context['params'].name));
      if (!file) throw notFound();
      answerFile(context, file);
    });
    router.get(`${ROUTE}{/*path}`, (context: Context) => {
      (context.state as State).route = ROUTE;
      if (page === undefined || context.path.startsWith(`${ROUTE}/api/`)) throw notFound();
      answerPage(context, page);
    });
  };
}

function answerPage(context: Context, page: string): void {
  const nonce = randomBytes(NONCE_BYTES).toString('base64url');
  context.set({
    ...SITE_HEADERS,
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
