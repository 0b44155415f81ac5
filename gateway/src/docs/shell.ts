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

interface Chunk {
  file: string;
  css?: string[];
}

const MANIFEST = join(SITE, '.vite/manifest.json');
/** Empty if it is not built. */
const CHUNKS = (existsSync(MANIFEST) ? JSON.parse(readFileSync(MANIFEST, 'utf8')) : {}) as Record<
  string,
  Chunk
>;

/** A compiled script with its styles, by the names of their files; undefined if it is not built. */
export function compiled(source: string): { script: string; styles: string[] } | undefined {
  const chunk = CHUNKS[source];
  if (!chunk) return undefined;
  return { script: basename(chunk.file), styles: (chunk.css ?? []).map((file) => basename(file)) };
}

export interface NavGroup {
  title: string;
  pages: Array<{ slug: string; title: string }>;
}

export interface Page {
  title: string;
  body: Html;
  nav: readonly NavGroup[];
  /** True for pages beside `docs`, false for pages below it. */
  outside?: boolean;
  slug?: string;
  /** The reference fills the window. */
  wide?: boolean;
  head?: Html;
}

export function shell({ title, body, nav, outside, slug, wide, head = none }: Page): string {
  const up = outside ? '' : '../';
  const docs = outside ? 'docs/' : '';
  const script = compiled('src/page.ts')?.script;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="${docs}style.css?v=${STYLE_VERSION}" />
        ${script ? html`<script type="module" src="${docs}assets/${script}"></script>` : none}
        ${head}
      </head>
      <body data-docs="${docs}" data-console="${up}dashboard/api">
        <a class="skip" href="#content">To the text</a>
        <header class="top">
          <a class="brand" href="${up}docs">Business Messaging Gateway</a>
          <button
            type="button"
            class="menu"
            aria-expanded="false"
            aria-controls="links guides"
            hidden
          >
            Menu
          </button>
          <div class="links" id="links">
            <a href="${docs}quick-start">Guides</a>
            <a href="${docs}reference">Reference</a>
            <a href="${up}changelog">Changelog</a>
            <a href="${up}dashboard">Console</a>
          </div>
          <div class="search">
            <input type="search" placeholder="Search" aria-label="Search" />
            <ul class="found" hidden></ul>
            <span role="status" class="skip"></span>
          </div>
        </header>
        <div class="frame${wide ? ' wide' : ''}">
          <nav class="guides" id="guides" aria-label="Guides">
            ${nav.map(
              (group) =>
                html`<h2>${group.title}</h2>
                  <ul>
                    ${group.pages.map((page) => entry(page, docs, page.slug === slug))}
                  </ul>`,
            )}
          </nav>
          ${
            // The renderer of the reference draws a main part of its own.
            wide ? html`<div id="content">${body}</div>` : html`<main id="content">${body}</main>`
          }
        </div>
      </body>
    </html> `.markup;
}

const entry = (page: { slug: string; title: string }, docs: string, current: boolean): Html =>
  html`<li>
    <a href="${docs}${page.slug}" ${current ? html`aria-current="page"` : none}>${page.title}</a>
  </li> `;
