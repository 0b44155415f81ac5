// Serves the documentation: GET /docs and the pages below it, /changelog, /clients, /llms.txt, and
// what tools read: /openapi.json, /asyncapi.json, /collection.json. They need no key and are
// rendered once, at the start.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import type Router from '@koa/router';
import type { Context } from 'koa';
import type { Logger } from '@bmg/common/telemetry';
import { answerZipped, readSiteFiles, serveFiles } from '../edge/site-files';
import type { State } from '../edge/state';
import type { Chapter } from '../endpoints';
import { buildOpenApi } from '../openapi';
import { buildAsyncApi } from '../openapi/asyncapi';
import { buildCollection, buildEnvironment } from '../openapi/collection';
import { changelogPage } from './changelog-page';
import { designPage } from './design-page';
import { readGuides } from './guides';
import { html } from './html';
import { homePage } from './home-page';
import { llmsText } from './llms';
import { packagesPage, readPackages, servePackages } from './packages';
import { referencePages } from './reference';
import { searchIndex } from './search-index';
import { shell, SHELL_CSS, SITE, type NavGroup } from './shell';

/** Nothing inline, nothing from another host. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');
const PAGE_HEADERS = {
  'Content-Security-Policy': POLICY,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
};
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
export type Documentation = ReturnType<typeof readDocumentation>;

export function readDocumentation(
  chapters: readonly Chapter[],
  { PUBLIC_URL }: { PUBLIC_URL: string },
) {
  const public_url = PUBLIC_URL.replace(/\/$/, '');
  const document = buildOpenApi(chapters, { public_url });
  const guides = readGuides(document, { public_url });
  /** The text of /llms.txt. */
  const llms = llmsText(document, { guides: guides.guides, public_url });
  return { document, guides, llms, public_url };
}

export function documents(
  documentation: Documentation,
  log: Logger,
): (router: Router<State>) => void {
  const packages = readPackages();
  const { guides, public_url } = documentation;
  const clients = packagesPage(packages, guides.nav, public_url);
  const texts = { ...textsOf(documentation), '/clients': page(clients) };
  const files = readSiteFiles(SITE);
  if (files.size === 0)
    log.warn({ folder: SITE }, 'the scripts of the documentation are not built: make build');
  return (router) => {
    for (const [path, text] of Object.entries(texts)) router.get(path, serve(path, text));
    serveFiles(router, '/docs', files);
    servePackages(router, packages);
  };
}

const page = (text: string): Text => ({ type: 'text/html', text });

function textsOf({ document, guides: { guides, nav }, llms }: Documentation): Record<string, Text> {
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
    ...Object.fromEntries(
      [...referencePages(document)].map(([slug, text]) => [`/docs/${slug}`, page(text)]),
    ),
    '/docs/style.css': { type: 'text/css', text: SHELL_CSS, cache: IMMUTABLE_CACHE },
    '/docs/search.json': {
      type: 'application/json',
      text: JSON.stringify(searchIndex(document, guides)),
    },
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

/** The page for a person whose link leads nowhere; `root` leads to the gateway's root. */
export const lostPage = (nav: readonly NavGroup[], root: string): string =>
  shell({
    title: 'No such page',
    nav,
    root,
    body: html`<h1>There is no such page</h1>
      <p class="lead">The link is old or incomplete. Nothing was changed.</p>
      <ul>
        <li>Guides and reference: <a href="${root}docs">documentation</a>, or the search above.</li>
        <li>Your messages, numbers and events: <a href="${root}dashboard">console</a>.</li>
        <li>
          An invitation or a sign-up: the address is in the message that you received. If it does
          not open, ask the sender for a new link.
        </li>
      </ul>`,
  });

/** The contract's endpoints, which answer every client with JSON. */
const API = /^\/v1(\/|$)/;

/**
 * Answers a browser whose address leads nowhere with a page; the function returns false for other
 * requests, which get the error of the contract.
 */
export function answerLost({ guides, public_url }: Documentation): (context: Context) => boolean {
  const root = `${new URL(public_url).pathname.replace(/\/+$/, '')}/`;
  const page = lostPage(guides.nav, root);
  return (context) => {
    const { method, path } = context;
    const is_page = (method === 'GET' || method === 'HEAD') && !API.test(path);
    if (!is_page || context.accepts('json', 'html') !== 'html') return false;
    context.set({ ...PAGE_HEADERS, 'Cache-Control': 'no-store', Vary: 'Accept' });
    context.status = 404;
    context.type = 'html';
    context.body = page;
    return true;
  };
}

function serve(path: string, { type, text, cache = CACHE, headers = {} }: Text) {
  const gzip = gzipSync(text);
  // Weak: the same for both encodings.
  const etag = `W/"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;
  return (context: Context): void => {
    (context.state as State).route = path;
    context.set({
      'Cache-Control': cache,
      ...PAGE_HEADERS,
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
