// The documentation's pages: every link leads somewhere, every error code and event has its anchor,
// and programs find the Markdown.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { checkSettings, DESTINATION_TYPES } from '@bmg/common/destinations';
import { CATALOG } from '@bmg/common/errors';
import { en } from '../../gateway/src/connect-page/texts/en';
import { chapters } from '../../gateway/src/endpoints';
import { tools } from '../../gateway/src/mcp/tools';
import { buildOpenApi, documentPath } from '../../gateway/src/openapi';
import { readGuides } from '../../gateway/src/docs/guides';
import { homePage } from '../../gateway/src/docs/home-page';
import { llmsText } from '../../gateway/src/docs/llms';
import { lostPage } from '../../gateway/src/docs';
import { packagesPage } from '../../gateway/src/docs/packages';
import { referenceAddresses, referencePages } from '../../gateway/src/docs/reference';
import { searchIndex } from '../../gateway/src/docs/search-index';
import { shell } from '../../gateway/src/docs/shell';
import { operationsOf } from './openapi-structure';
import { codeBlocks } from './receiving/page';

const DOCS = resolve(__dirname, '../../gateway/docs');
const ORIGIN = 'https://gateway.example.net';
const document = buildOpenApi(chapters, { public_url: ORIGIN });
const operations = operationsOf(document);
const { guides, nav } = readGuides(document, { public_url: ORIGIN });
const LOST = 'a/lost/link';
const PACKAGE = {
  ...{ name: 'bmg-client-1.0.0.tgz', language: 'TypeScript', install: 'npm install' },
  ...{ bytes: Buffer.alloc(2_000), sha256: 'ab12' },
};
const pages = new Map([
  ['clients', packagesPage([PACKAGE], nav, ORIGIN)],
  ['docs', homePage(document, nav)],
  [LOST, lostPage(nav, '/')],
  ...[...referencePages(document)].map(([slug, text]): [string, string] => [`docs/${slug}`, text]),
  ...guides.map(({ slug, title, body }): [string, string] => [
    `docs/${slug}`,
    shell({ title, body, nav, slug }),
  ]),
]);
const references = referenceAddresses(document);
const SERVED = new Set([
  ...['openapi.json', 'asyncapi.json', 'collection.json', 'environment.json'],
  ...['changelog', 'llms.txt', 'dashboard', `clients/${PACKAGE.name}`],
]);

const PICTURES = new Set(
  readdirSync(join(DOCS, 'pictures')).map((name) => `docs/pictures/${name}`),
);

const isThere = (from: string, href: string): boolean => {
  const { origin, pathname, hash } = new URL(href, `${ORIGIN}/${from}`);
  if (origin !== ORIGIN) return true;
  const path = pathname.slice(1);
  const anchor = decodeURIComponent(hash.slice(1));
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
  for (const anchor of references.keys()) {
    expect(pages.get('docs')).toContain(`id="${anchor}"`);
  }
  for (const anchor of ['event-headers', 'event-signature', 'event-retries', 'event-names']) {
    expect(pages.get('docs')).toContain(`id="${anchor}"`);
  }
});

test('the reference has a section for every endpoint and event, where links lead', () => {
  for (const [name, address] of references) {
    const [slug, anchor] = address.split('#');
    expect(anchor).toBe(name);
    expect(pages.get(`docs/${slug}`)).toContain(`<section class="row" id="${name}"`);
    // Links of the time when the reference was one page.
    expect(pages.get('docs/reference')).toContain(`<li id="${name}"><a href="${address}">`);
  }
});

test('the reference names every error code of an endpoint, its own or those that all have', () => {
  const codesIn = (text = ''): string[] =>
    [...text.matchAll(/errors#([A-Z_]+)"/g)].map(([, code = '']) => code);
  const common = codesIn(pages.get('docs/reference'));
  for (const { operation } of operations) {
    const [slug] = (references.get(operation.operationId) ?? '').split('#');
    const [, section] = (pages.get(`docs/${slug}`) ?? '').split(`id="${operation.operationId}"`);
    const own = codesIn(section?.split('</section>')[0]);
    const wanted = new Set(operation['x-codes']);
    expect(new Set(wanted.size > 0 ? [...common, ...own] : own)).toEqual(wanted);
  }
});

test('the guides give the meaning and the remedy of every error code', () => {
  const { markdown } = guides.find(({ slug }) => slug === 'errors') as { markdown: string };
  for (const code of Object.keys(CATALOG)) {
    expect(markdown).toMatch(
      new RegExp(
        `^### \`${code}\`\\n\\nHTTP \\d{3}, .*\\. \\w.+\\n\\n\\*\\*What to do:\\*\\* \\w.+`,
        'm',
      ),
    );
  }
});

test('every guide in the folder is in the navigation', () => {
  const files = readdirSync(join(DOCS, 'guides')).map((name) => name.replace('.md', ''));
  expect(nav.flatMap((group) => group.pages.map(({ slug }) => slug)).sort()).toEqual(files.sort());
});

describe('the guide to embedding the sign-up', () => {
  const guide = readFileSync(join(DOCS, 'guides/embedding.md'), 'utf8');
  const FOLDER = resolve(__dirname, '../../gateway/src/connect-page');
  const script = readFileSync(join(FOLDER, 'browser/page.ts'), 'utf8');
  const notices = readFileSync(join(FOLDER, 'html.ts'), 'utf8');
  const quotedIn = (text: string, pattern: RegExp): string[] => [
    ...new Set([...text.matchAll(pattern)].map(([, found = '']) => found)),
  ];
  const ofPlatform = ['WA_EMBEDDED_SIGNUP'];
  /** The texts in capitals of the page: codes, types of messages, steps. */
  const posted = quotedIn(script + notices, /'([A-Z]+(?:_[A-Z]+)*)'/g).filter(
    (name) => !ofPlatform.includes(name) && (name.includes('_') || /^[A-Z]{8,}$/.test(name)),
  );

  test('explains every code, type and step that the page posts', () => {
    expect(posted).toEqual(expect.arrayContaining(['POPUP_BLOCKED', 'NO_ANSWER', 'LINK_EXPIRED']));
    const unknown = posted.filter((name) => !(name in CATALOG) && !guide.includes(`\`${name}\``));
    expect(unknown).toEqual([]);
  });

  test('has no code, type, step or reason that the page does not post', () => {
    const named = quotedIn(guide, /`([A-Z]+(?:_[A-Z]+)+)`/g);
    expect(named.filter((name) => !posted.includes(name))).toEqual([]);
  });

  test('has exactly the reasons of a cancel', () => {
    const lines = script.match(/reason: .*/g)?.join('\n') ?? '';
    const row = guide.split('\n').find((line) => line.startsWith('| `SERVICE_CONNECT_CANCEL`'));
    const [, listed = ''] = /`reason` \(([^)]*)\)/.exec(row ?? '') ?? [];
    expect(quotedIn(listed, /`(\w+)`/g).sort()).toEqual(quotedIn(lines, /'(\w+)'/g).sort());
  });

  test('has a sample that shows a person no text of the platform', () => {
    const [, sample = ''] = /```html\n([\s\S]*?)```/.exec(guide) ?? [];
    expect(sample).toContain('data.code');
    expect(sample).not.toContain('data.message');
  });

  test('and the page explain every failure in a language of the reader', () => {
    for (const code of Object.keys(en.failures)) {
      expect([code, code in CATALOG || posted.includes(code)]).toEqual([code, true]);
    }
  });
});

test('endpoints, codes and events in the text link to their reference', () => {
  const sending = pages.get('docs/sending');
  expect(sending).toContain(
    '<a href="reference/messages#sendText"><code>POST /messages/send</code></a>',
  );
  expect(sending).toContain('<a href="errors#MISSING_FIELDS">');
  expect(sending).toContain('<a href="reference/events#message.sent">');
});

test('the samples name the address of this gateway', () => {
  expect(pages.get('docs/quick-start')).toContain(`${ORIGIN}/v1`);
  for (const page of pages.values()) expect(page).not.toContain('gateway.example.com/v1');
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

test('the guide for agents names every tool with its endpoint', () => {
  const { markdown = '' } = guides.find(({ slug }) => slug === 'agents') ?? {};
  const [, table = ''] = /\n(\| Tool [^]*?)\n\n/.exec(markdown) ?? [];
  const named = table
    .split('\n')
    .slice(2)
    .flatMap((line) => {
      const [names = [], paths = []] = line
        .split('|')
        .slice(1, 3)
        .map((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text));
      return names.map((name, place) => [name, paths[place]]);
    });
  const wanted = tools.map(({ name, endpoint }) => [
    name,
    `${endpoint.verb} ${documentPath(endpoint)}`,
  ]);
  expect(named.sort()).toEqual(wanted.sort());
});

test('each kind of message has its picture, as the script draws it', () => {
  execFileSync(process.execPath, [join(DOCS, 'pictures.mjs'), '--check']);
  const sending = pages.get('docs/sending') as string;
  const shown = [...sending.matchAll(/<img src="(pictures\/[^"]+)"/g)].map(
    ([, src]) => `docs/${src}`,
  );
  expect(new Set(shown)).toEqual(PICTURES);
});

test('the guide has a valid body for each type of destination', () => {
  const guide = readFileSync(join(DOCS, 'guides/endpoints.md'), 'utf8');
  const types = codeBlocks(guide, 'json').flatMap((block) => {
    const { destination } = JSON.parse(block);
    if (!destination) return [];
    const { type, ...settings } = destination;
    checkSettings(type, settings, { allowPrivate: false });
    return [type as string];
  });
  expect(types).toEqual(DESTINATION_TYPES);
});
