// The frame of every page of the documentation: header with search, list of guides, text. All
// addresses are relative, so that they hold under any path prefix of the gateway.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { samplesCss, tokensCss } from '../design/css';
import { html, none, type Html } from './html';

/** Resolves to one folder from src/ and dist/. */
const GATEWAY = resolve(__dirname, '../..');
/** The folder to which Vite compiles the browser's part. */
export const SITE = join(GATEWAY, 'docs/dist/site');
export const SHELL_CSS = [
  tokensCss(),
  readFileSync(join(GATEWAY, 'docs/src/shell.css'), 'utf8'),
  samplesCss(),
].join('\n');
const STYLE_VERSION = createHash('sha256').update(SHELL_CSS).digest('hex').slice(0, 12);

const MANIFEST = join(SITE, '.vite/manifest.json');
/** Empty if the browser's part is not built. */
const CHUNKS = (existsSync(MANIFEST) ? JSON.parse(readFileSync(MANIFEST, 'utf8')) : {}) as Record<
  string,
  { file: string }
>;
const SCRIPT = CHUNKS['src/page.ts'] && basename(CHUNKS['src/page.ts'].file);

interface NavPage {
  /** The address below `docs/`. */
  slug: string;
  title: string;
  /** The parts of the page; listed while it is open. */
  parts?: Array<{ anchor: string; title: string }>;
}

export interface NavGroup {
  title: string;
  pages: NavPage[];
}

export interface Page {
  title: string;
  body: Html;
  nav: readonly NavGroup[];
  /** The gateway's root as seen from the page: empty for pages beside `docs`. */
  root?: string;
  slug?: string;
  /** The reference has a column of samples and a list of its own. */
  reference?: boolean;
}

export function shell({ title, body, nav, root = '../', slug, reference }: Page): string {
  const docs = `${root}docs/`;
  const list = reference ? 'Reference' : 'Guides';
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="${docs}style.css?v=${STYLE_VERSION}" />
        ${SCRIPT ? html`<script type="module" src="${docs}assets/${SCRIPT}"></script>` : none}
      </head>
      <body data-docs="${docs}" data-console="${root}dashboard/api">
        <a class="skip" href="#content">To the text</a>
        <header class="top">
          <a class="brand" href="${root}docs">Business Messaging Gateway</a>
          <button type="button" class="menu" aria-expanded="false" aria-controls="links guides">
            Menu
          </button>
          <div class="links" id="links">
            <a href="${docs}quick-start">Guides</a>
            <a href="${docs}reference">Reference</a>
            <a href="${root}changelog">Changelog</a>
            <a href="${root}dashboard">Console</a>
          </div>
          <div class="search">
            <input type="search" placeholder="Search" aria-label="Search" />
            <ul class="found" hidden></ul>
            <span role="status" class="skip"></span>
          </div>
        </header>
        <div class="frame${reference ? ' reference' : ''}">
          <nav class="guides" id="guides" aria-label="${list}">
            ${nav.map(
              (group) =>
                html`<h2>${group.title}</h2>
                  <ul>
                    ${group.pages.map((page) => entry(page, docs, page.slug === slug))}
                  </ul>`,
            )}
          </nav>
          <main id="content">${body}</main>
        </div>
      </body>
    </html> `.markup;
}

const entry = ({ slug, title, parts = [] }: NavPage, docs: string, current: boolean): Html =>
  html`<li>
    <a href="${docs}${slug}" ${current ? html`aria-current="page"` : none}>${title}</a>
    ${
      current && parts.length > 0
        ? html`<ul>
            ${parts.map((part) => html`<li><a href="#${part.anchor}">${part.title}</a></li> `)}
          </ul>`
        : none
    }
  </li> `;
