// Serves the documents: GET /openapi.json, /docs and /changelog. They need no key and are rendered once, at
// startup.
import { createHash } from 'node:crypto';
import type Router from '@koa/router';
import type { Context } from 'koa';
import type { State } from '../edge/state';
import type { Chapter } from '../endpoints';
import { buildOpenApi } from '../openapi';
import { changelogPage } from './changelog-page';
import { referencePage } from './reference-page';
import { DOCS_STYLE } from './style';

/** Allows the style sheet only: no scripts, frames or forms. */
const POLICY =
  "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/** Short, so that a new release shows within minutes; an ETag saves the rest. */
const CACHE = 'public, max-age=300';
const IMMUTABLE_CACHE = 'public, max-age=31536000, immutable';

interface File {
  type: string;
  text: string;
  cache?: string;
  headers?: Record<string, string>;
}

export function documents(
  chapters: readonly Chapter[],
  { PUBLIC_URL }: { PUBLIC_URL: string },
): (router: Router<State>) => void {
  const document = buildOpenApi(chapters, { public_url: PUBLIC_URL.replace(/\/$/, '') });
  const files: Record<string, File> = {
    '/openapi.json': {
      type: 'application/json',
      text: JSON.stringify(document),
      // Tools on other origins may read it: it holds no secret.
      headers: { 'Access-Control-Allow-Origin': '*' },
    },
    '/docs': { type: 'text/html', text: referencePage(document) },
    '/docs/style.css': { type: 'text/css', text: DOCS_STYLE, cache: IMMUTABLE_CACHE },
    '/changelog': { type: 'text/html', text: changelogPage() },
  };
  return (router) => {
    for (const [path, file] of Object.entries(files)) router.get(path, serve(path, file));
  };
}

function serve(path: string, { type, text, cache = CACHE, headers = {} }: File) {
  const etag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;
  return (context: Context): void => {
    (context.state as State).route = path;
    context.set({
      ...headers,
      'Cache-Control': cache,
      'Content-Security-Policy': POLICY,
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
      ETag: etag,
    });
    context.status = 200;
    if (context.fresh) {
      context.status = 304;
      return;
    }
    context.type = `${type}; charset=utf-8`;
    context.body = text;
  };
}
