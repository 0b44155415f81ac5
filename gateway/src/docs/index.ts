// The documents: GET /openapi.json, /docs and /changelog. Beside the contract's endpoints, without a key,
// made once at the start.
import { createHash } from 'node:crypto';
import type Router from '@koa/router';
import type { Context } from 'koa';
import type { State } from '../edge/state';
import { buildOpenApi, type Chapter } from '../openapi';
import { changelogPage } from './changelog-page';
import { referencePage } from './reference-page';
import { DOCS_STYLE } from './style';

/** Nothing but the one style file: no script, no frame, no form. */
const POLICY =
  "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/** A new release is seen within minutes; in between nothing is sent twice. */
const CACHE = 'public, max-age=300';
const CACHE_FOR_EVER = 'public, max-age=31536000, immutable';

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
      // For readers in other pages: there is no secret in it.
      headers: { 'Access-Control-Allow-Origin': '*' },
    },
    '/docs': { type: 'text/html', text: referencePage(document) },
    '/docs/style.css': { type: 'text/css', text: DOCS_STYLE, cache: CACHE_FOR_EVER },
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
