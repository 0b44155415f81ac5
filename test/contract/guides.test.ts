// The documentation's pages: every link leads somewhere, every error code and event has its anchor, and
// programs find the Markdown.
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { CATALOG } from '@bmg/common/errors';
import { chapters } from '../../gateway/src/endpoints';
import { buildOpenApi } from '../../gateway/src/openapi';
import { readGuides } from '../../gateway/src/docs/guides';
import { homePage } from '../../gateway/src/docs/home-page';
import { llmsText } from '../../gateway/src/docs/llms';
import { searchIndex } from '../../gateway/src/docs/search-index';
import { shell } from '../../gateway/src/docs/shell';
import { operationsOf } from './openapi-structure';

const DOCS = resolve(__dirname, '../../gateway/docs');
const ORIGIN = 'https://gateway.example.net';
const document = buildOpenApi(chapters, { public_url: ORIGIN });
const operations = operationsOf(document);
const { guides, nav } = readGuides(document, { public_url: ORIGIN });
const pages = new Map([
  ['docs', homePage(document, nav)],
  ...guides.map(({ slug, title, body }): [string, string] => [
    `docs/${slug}`,
    shell({ title, body, nav, slug }),
  ]),
]);
const references = new Set([
  ...operations.map(({ operation }) => operation.operationId),
  ...Object.keys(document.webhooks),
]);
const SERVED = new Set(['openapi.json', 'changelog', 'llms.txt', 'dashboard', 'docs/reference']);

const PICTURES = new Set(
  readdirSync(join(DOCS, 'pictures')).map((name) => `docs/pictures/${name}`),
);

const isThere = (from: string, href: string): boolean => {
  const { origin, pathname, hash } = new URL(href, `${ORIGIN}/${from}`);
  if (origin !== ORIGIN) return true;
  const path = pathname.slice(1);
  const anchor = decodeURIComponent(hash.slice(1));
  if (path === 'docs/reference') return anchor === '' || references.has(anchor);
  const page = pages.get(path);
  if (page === undefined)
    return SERVED.has(path) || path.startsWith('docs/assets/') || PICTURES.has(path);
  return anchor === '' || page.includes(`id="${anchor}"`);
};

test.each([...pages.keys()])('every link of /%s leads somewhere', (path) => {
  const hrefs = [...(pages.get(path) as string).matchAll(/<a[^>]*? href="([^"]*)"/g)];
  expect(hrefs.length).toBeGreaterThan(10);
  expect(hrefs.map(([, href = '']) => href).filter((href) => !isThere(path, href))).toEqual([]);
});

test.each([...pages.keys()])('/%s holds nothing inline and nothing of another host', (path) => {
  const page = pages.get(path) as string;
  expect(page).not.toMatch(
    /<script(?![^>]* src=)|<style|<iframe|<form|<img(?! src="pictures\/)| style=| on\w+=/i,
  );
  const loaded = [...page.matchAll(/<(?:link|script)[^>]*(?:href|src)="([^"]*)"/g)];
  expect(loaded.filter(([, address = '']) => /^(https?:)?\/\//.test(address))).toEqual([]);
  expect(page).not.toContain('<th scope="col"></th>');
  expect(page.match(/<(pre|div class="scroll")>/g)).toBeNull();
});

test('the home page and the guide have an anchor for every error code', () => {
  for (const code of Object.keys(CATALOG)) {
    expect(pages.get('docs')).toContain(`id="${code}"`);
    expect(pages.get('docs/errors')).toContain(`id="${code}"`);
  }
  expect(pages.get('docs/errors')).toContain('id="upstream-131047"');
});

test('the home page has every endpoint and event, with the anchors that links use', () => {
  for (const anchor of [...references].filter((one) => one !== 'getHealth')) {
    expect(pages.get('docs')).toContain(`id="${anchor}"`);
  }
  for (const anchor of ['event-headers', 'event-signature', 'event-retries', 'event-names']) {
    expect(pages.get('docs')).toContain(`id="${anchor}"`);
  }
});

test('endpoints, codes and events in the text link to their reference', () => {
  const sending = pages.get('docs/sending');
  expect(sending).toContain('<a href="reference#sendText"><code>POST /messages/send</code></a>');
  expect(sending).toContain('<a href="errors#MISSING_FIELDS">');
  expect(sending).toContain('<a href="reference#message.sent">');
});

test('the samples name the address of this gateway', () => {
  expect(pages.get('docs/quick-start')).toContain(`${ORIGIN}/v1`);
  for (const page of pages.values()) expect(page).not.toContain('gateway.example.com');
});

test('the search finds sections, endpoints, events and codes, each at an address of its own', () => {
  const index = searchIndex(document, guides);
  expect(new Set(index.map(({ id }) => id)).size).toBe(index.length);
  expect(index.filter(({ id }) => !isThere('docs/x', id))).toEqual([]);
  const titles = index.map(({ title }) => title);
  for (const title of ['POST /messages/send', 'message.received', 'INVALID_FIELD', 'Verify']) {
    expect(titles).toContain(title);
  }
});

test('llms.txt names the Markdown of each guide', () => {
  const text = llmsText(document, { guides, public_url: ORIGIN });
  for (const { slug } of guides) expect(text).toContain(`${ORIGIN}/docs/${slug}.md`);
  expect(guides.every(({ markdown }) => !markdown.includes('<!--'))).toBe(true);
});

test('each kind of message has its picture, as the script draws it', () => {
  execFileSync(process.execPath, [join(DOCS, 'pictures.mjs'), '--check']);
  const sending = pages.get('docs/sending') as string;
  const shown = [...sending.matchAll(/<img src="(pictures\/[^"]+)"/g)].map(
    ([, src]) => `docs/${src}`,
  );
  expect(new Set(shown)).toEqual(PICTURES);
});
