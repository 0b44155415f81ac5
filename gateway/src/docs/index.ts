// Serves the documentation: GET /docs and the pages below it, /changelog, /llms.txt, and what tools
// read: /openapi.json, /asyncapi.json, /collection.json. They need no key and are rendered once, at
// the start.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import type Router from '@koa/router';
import type { Context } from 'koa';
import { CATALOG, type ErrorCode } from '@bmg/common/errors';
import type { Logger } from '@bmg/common/telemetry';
import { answerPage, answerZipped, NONCE, readSiteFiles, serveFiles } from '../edge/site-files';
import type { State } from '../edge/state';
import type { Chapter } from '../endpoints';
import { buildOpenApi, type OpenApiDocument } from '../openapi';
import { buildAsyncApi } from '../openapi/asyncapi';
import { buildCollection, buildEnvironment } from '../openapi/collection';
import { ERROR_GUIDE } from '../error-guide';
import { changelogPage } from './changelog-page';
import { designPage } from './design-page';
import { readGuides, type Guides } from './guides';
import { homePage } from './home-page';
import { html } from './html';
import { llmsText } from './llms';
import { searchIndex } from './search-index';
import { compiled, shell, SHELL_CSS, SITE } from './shell';

/** Nothing inline, nothing from another host. */
const policyOf = (styles: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    styles,
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
const POLICY = policyOf("style-src 'self'");
/**
 * The renderer adds style elements, which the nonce of the answer allows, and sets styles of single
 * elements. Scripts stay limited to our own files.
 */
const referencePolicyOf = (nonce: string): string =>
  policyOf(`style-src 'self' 'nonce-${nonce}'; style-src-attr 'unsafe-inline'`);
/** Short, so that a new release shows within minutes; an ETag saves the rest. */
const CACHE = 'public, max-age=300';
const IMMUTABLE_CACHE = 'public, max-age=31536000, immutable';
/** Resolves to one folder from src/ and dist/. */
const PICTURES = resolve(__dirname, '../../docs/pictures');

interface Text {
  type: string;
  text: string;
  cache?: string;
  headers?: Record<string, string>;
}

/** The documentation as data. */
export interface Documentation {
  document: OpenApiDocument;
  guides: Guides;
  /** The text of /llms.txt. */
  llms: string;
  public_url: string;
}

export function readDocumentation(
  chapters: readonly Chapter[],
  { PUBLIC_URL }: { PUBLIC_URL: string },
): Documentation {
  const public_url = PUBLIC_URL.replace(/\/$/, '');
  const document = buildOpenApi(chapters, { public_url });
  const guides = readGuides(document, { public_url });
  const llms = llmsText(document, { guides: guides.guides, public_url });
  return { document, guides, llms, public_url };
}

export function documents(
  documentation: Documentation,
  log: Logger,
): (router: Router<State>) => void {
  const { guides } = documentation;
  const texts = textsOf(documentation);
  const reference = referencePage(guides);
  const files = readSiteFiles(SITE);
  if (files.size === 0) log.warn({ folder: SITE }, 'the reference is not built: make build');
  return (router) => {
    for (const [path, text] of Object.entries(texts)) router.get(path, serve(path, text));
    serveFiles(router, '/docs', files);
    router.get('/docs/reference', (context: Context) => {
      (context.state as State).route = '/docs/reference';
      answerPage(context, reference, referencePolicyOf);
    });
  };
}

function textsOf({ document, guides: { guides, nav }, llms }: Documentation): Record<string, Text> {
  const page = (text: string): Text => ({ type: 'text/html', text });
  const pages = guides.flatMap(({ slug, title, body, markdown }): Array<[string, Text]> => [
    [`/docs/${slug}`, page(shell({ title, body, nav, slug }))],
    [`/docs/${slug}.md`, { type: 'text/markdown', text: markdown }],
  ]);
  return {
    '/openapi.json': forTools(document),
    '/asyncapi.json': forTools(buildAsyncApi(document)),
    '/collection.json': forTools(buildCollection(document)),
    '/environment.json': forTools(buildEnvironment(document)),
    '/docs': page(homePage(document, nav)),
    '/changelog': page(changelogPage(nav, document)),
    '/docs/design': page(designPage(nav)),
    ...Object.fromEntries(pages),
    '/docs/style.css': { type: 'text/css', text: SHELL_CSS, cache: IMMUTABLE_CACHE },
    '/docs/search.json': {
      type: 'application/json',
      text: JSON.stringify(searchIndex(document, guides)),
    },
    '/docs/codes.json': { type: 'application/json', text: JSON.stringify(codeGuide()) },
    ...pictures(),
    '/llms.txt': { type: 'text/plain', text: llms },
  };
}

/** Tools on other origins may read it: it holds no secret. */
const forTools = (document: object): Text => ({
  type: 'application/json',
  text: JSON.stringify(document),
  headers: { 'Access-Control-Allow-Origin': '*' },
});

/** How the reference explains each error code. */
const codeGuide = (): Record<string, object> =>
  Object.fromEntries(
    (Object.keys(CATALOG) as ErrorCode[]).map((code) => {
      const { http, retryable } = CATALOG[code];
      return [code, { http, retryable, ...ERROR_GUIDE[code] }];
    }),
  );

/** A picture's colours follow the reader's scheme by a style of its own. */
const pictures = (): Record<string, Text> =>
  Object.fromEntries(
    readdirSync(PICTURES).map((name) => [
      `/docs/pictures/${name}`,
      {
        type: 'image/svg+xml',
        text: readFileSync(join(PICTURES, name), 'utf8'),
        headers: { 'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'" },
      },
    ]),
  );

function serve(path: string, { type, text, cache = CACHE, headers = {} }: Text) {
  const gzip = gzipSync(text);
  // Weak: the same for both encodings.
  const etag = `W/"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;
  return (context: Context): void => {
    (context.state as State).route = path;
    context.set({
      'Cache-Control': cache,
      'Content-Security-Policy': POLICY,
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
      Vary: 'Accept-Encoding',
      ETag: etag,
      ...headers,
    });
    context.status = 200;
    if (context.fresh) {
      context.status = 304;
      return;
    }
    context.type = `${type}; charset=utf-8`;
    answerZipped(context, text, gzip);
  };
}

/** The reference, but for the nonce of an answer. */
function referencePage({ nav }: Guides): string {
  const { script = '', styles = [] } = compiled('src/reference.ts') ?? {};
  return shell({
    title: 'Reference',
    nav,
    wide: true,
    body: html`<div id="reference"></div>
      <noscript
        ><p>
          The reference needs JavaScript. <a href="../openapi.json">The OpenAPI document</a> does
          not.
        </p></noscript
      >`,
    head: html`${styles.map((name) => html`<link rel="stylesheet" href="assets/${name}" />`)}
      <script type="module" nonce="${NONCE}" src="assets/${script}"></script>`,
  });
}
