// Serves the console, the single-page application that `make build` compiles to
// gateway/console/dist: its hashed files, and its page at every other address below /dashboard.
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type Router from '@koa/router';
import type { Context } from 'koa';
import type { Logger } from '@bmg/common/telemetry';
import { notFound } from '../edge/observe';
import { answerPage, readSiteFiles, serveFiles } from '../edge/site-files';
import type { State } from '../edge/state';

/** Resolves to one folder from src/ and dist/. */
const FOLDER = resolve(__dirname, '../../console/dist/site');
const ROUTE = '/dashboard';
/**
 * The component library adds style elements: the nonce of the answer allows these and no others.
 */
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
    serveFiles(router, ROUTE, files);
    router.get(`${ROUTE}{/*path}`, (context: Context) => {
      (context.state as State).route = ROUTE;
      if (page === undefined || context.path.startsWith(`${ROUTE}/api/`)) throw notFound();
      answerPage(context, page, policyOf);
      context.set({
        'Cross-Origin-Opener-Policy': 'same-origin-allow-popups',
        'X-Frame-Options': 'DENY',
        'X-Robots-Tag': 'noindex',
      });
    });
  };
}

/**
 * Undefined if the console is not built. The page's base is the path under which browsers reach it.
 */
function readPage(public_url: string): string | undefined {
  const file = join(FOLDER, 'index.html');
  if (!existsSync(file)) return undefined;
  const base = `${new URL(public_url).pathname.replace(/\/+$/, '')}${ROUTE}/`;
  return readFileSync(file, 'utf8').replace('<base href="/dashboard/"', `<base href="${base}"`);
}
