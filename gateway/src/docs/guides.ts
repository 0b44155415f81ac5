// Reads the guides, gateway/docs/guides/*.md, and renders them once, at the start. Endpoints, error
// codes and events in code spans become links to the reference.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import MarkdownIt from 'markdown-it';
import { CATALOG } from '@bmg/common/errors';
import { ERROR_CODES, ERROR_GUIDE, UPSTREAM_GUIDE } from '../error-guide';
import { codeBlock } from './code-block';
import { escape, Html } from './html';
import { referenceAddresses } from './reference';
import type { NavGroup } from './shell';
import { operationsOf, type OpenApiDocument } from '../openapi';

/** Resolves to one folder from src/ and dist/. */
const FOLDER = resolve(__dirname, '../../docs/guides');

/** In the order of the navigation. */
const GROUPS: ReadonlyArray<[title: string, slugs: string[]]> = [
  [
    'Start',
    [
      'quick-start',
      'authentication',
      'keys',
      'people',
      'client',
      'agents',
      'testing',
      'going-live',
    ],
  ],
  ['Send', ['sending', 'recipes', 'templates', 'broadcasts', 'costs', 'limits']],
  ['Receive', ['receiving', 'endpoints']],
  ['Connect numbers', ['embedding', 'coexistence', 'numbers']],
  ['Operate', ['answers', 'errors', 'audit', 'changes']],
];

/**
 * Pages outside the guides that they link to, by the end of their path, and where a browser finds
 * them.
 */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'EVENTS.md': '../docs#events',
  'test/emulator/README.md': 'testing',
};

export interface Section {
  title: string;
  /** Anchor of its heading; empty for the part before the first. */
  anchor: string;
  text: string;
}

export interface Guide {
  slug: string;
  title: string;
  /** The Markdown source, with its generated parts. */
  markdown: string;
  body: Html;
  sections: Section[];
}

export function readGuides(
  document: OpenApiDocument,
  { public_url }: { public_url: string },
): { guides: Guide[]; nav: NavGroup[] } {
  const links = linksOf(document);
  const guides = GROUPS.flatMap(([, slugs]) => slugs).map((slug): Guide => {
    const source = readFileSync(join(FOLDER, `${slug}.md`), 'utf8');
    const markdown = source
      .replace('<!-- error codes -->', errorCodes)
      .replace('<!-- upstream codes -->', upstreamCodes)
      // Where the gateway serves them; in the repository they are beside the guides.
      .replaceAll('](../pictures/', '](pictures/')
      .replaceAll('https://gateway.example.com', public_url);
    return { slug, markdown, ...render(markdown, links) };
  });
  const titleOf = (slug: string): string => guides.find((one) => one.slug === slug)?.title ?? slug;
  const nav = GROUPS.map(([title, slugs]) => ({
    title,
    pages: slugs.map((slug) => ({ slug, title: titleOf(slug) })),
  }));
  return { guides, nav };
}

/** The code spans that become links, and their targets. */
function linksOf(document: OpenApiDocument): Map<string, string> {
  const links = new Map<string, string>();
  const addresses = referenceAddresses(document);
  for (const { verb, path, operation } of operationsOf(document)) {
    links.set(`${verb.toUpperCase()} ${path}`, addresses.get(operation.operationId) ?? '');
  }
  for (const name of Object.keys(document.webhooks)) links.set(name, addresses.get(name) ?? '');
  for (const code of ERROR_CODES) links.set(code, `errors#${code}`);
  for (const { upstream_code } of UPSTREAM_GUIDE) {
    links.set(String(upstream_code), `errors#upstream-${upstream_code}`);
  }
  return links;
}

const PARSER = new MarkdownIt({ html: false });
Object.assign(PARSER.renderer.rules, {
  code_inline: (all, at, _options, { links }: { links: Map<string, string> }) => {
    const { content = '' } = all[at] ?? {};
    const href = links.get(content);
    const code = `<code>${escape(content)}</code>`;
    const isLinked = all[at - 1]?.type === 'link_open';
    return href === undefined || isLinked ? code : `<a href="${href}">${code}</a>`;
  },
  fence: (all, at) => codeBlock(all[at]?.content ?? '', all[at]?.info.trim() ?? ''),
  table_open: () => '<div class="scroll" tabindex="0"><table>\n',
  table_close: () => '</table></div>\n',
  link_open: (all, at, options, _env, self) => {
    const token = all[at];
    token?.attrSet('href', addressOf(token.attrGet('href') ?? ''));
    return self.renderToken(all, at, options);
  },
} satisfies MarkdownIt['renderer']['rules']);

function render(
  markdown: string,
  links: Map<string, string>,
): Pick<Guide, 'title' | 'body' | 'sections'> {
  const tokens = PARSER.parse(markdown, {});
  const sections: Section[] = [];
  let title = '';
  tokens.forEach((token, at) => {
    const inline = tokens[at + 1];
    if (token.type === 'heading_open' && inline) {
      const anchor = anchorOf(inline.content);
      token.attrSet('id', anchor);
      const text = inline.content.replaceAll('`', '');
      if (token.tag === 'h1') title = text;
      sections.push({ title: text, anchor: token.tag === 'h1' ? '' : anchor, text: '' });
    } else if (token.type === 'inline' && tokens[at - 1]?.type !== 'heading_open') {
      const section = sections.at(-1);
      if (section) section.text += `${token.content} `;
    }
  });
  const markup = (part: typeof tokens): string =>
    PARSER.renderer.render(part, PARSER.options, { links });
  const first = tokens.findIndex(({ type, tag }) => type === 'heading_open' && tag === 'h2');
  const body =
    first === -1
      ? markup(tokens)
      : markup(tokens.slice(0, first)) + contentsOf(tokens) + markup(tokens.slice(first));
  return { title, body: new Html(body), sections };
}

/** A page with fewer parts is seen at a glance. */
const CONTENTS_MIN = 8;

/** Links to the parts of a long page. */
function contentsOf(tokens: ReturnType<MarkdownIt['parse']>): string {
  const links = tokens.flatMap(({ type, tag, ...token }, at) => {
    if (type !== 'heading_open' || tag !== 'h2') return [];
    const title = tokens[at + 1]?.content.replaceAll('`', '') ?? '';
    const [, id = ''] = token.attrs?.find(([name]) => name === 'id') ?? [];
    return [`<li><a href="#${escape(id)}">${escape(title)}</a></li>`];
  });
  if (links.length < CONTENTS_MIN) return '';
  return `<nav class="contents" aria-label="On this page"><ul>${links.join('')}</ul></nav>`;
}

/** The anchors that GitHub derives from headings; of an error code, the code itself. */
function anchorOf(heading: string): string {
  const code = /^`([^`]+)`$/.exec(heading)?.[1];
  if (code !== undefined) return /^\d+$/.test(code) ? `upstream-${code}` : code;
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-');
}

/** `sending.md#text` → `sending#text`. */
function addressOf(href: string): string {
  if (/^([a-z]+:|#)/.test(href)) return href;
  const found = Object.entries(ELSEWHERE).find(([path]) => href.endsWith(path));
  if (found) return found[1];
  const own = /^([a-z-]+)\.md(#.*)?$/.exec(href);
  if (!own) throw new Error(`a guide links to ${href}, which browsers cannot open`);
  return `${own[1]}${own[2] ?? ''}`;
}

const errorCodes = ERROR_CODES.map((code) => {
  const { http, retryable } = CATALOG[code];
  const { meaning, action } = ERROR_GUIDE[code];
  return `### \`${code}\`\n\nHTTP ${http}, ${retryable ? 'retryable' : 'not retryable'}. ${meaning}\n\n**What to do:** ${action}`;
}).join('\n\n');

const upstreamCodes = UPSTREAM_GUIDE.map(
  ({ upstream_code, meaning, action }) =>
    `### \`${upstream_code}\`\n\n${meaning}\n\n**What to do:** ${action}`,
).join('\n\n');
