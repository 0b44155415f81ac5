// Renders the reference, GET /docs/reference: an overview of all rows, a page for each chapter of
// the endpoints, and one for the events.
import { operationsOf, type OpenApiDocument } from '../../openapi';
import type { Json } from '../../openapi/schemas';
import { html, prose, table, type Html } from '../html';
import { shell, type NavGroup } from '../shell';
import { codeList, envelopeOf, eventSection, operationSection } from './sections';

const SLUG = 'reference';
const EVENTS = `${SLUG}/events`;

/** `Media and contacts` → `reference/media-and-contacts`. */
const pageOf = (chapter: string): string =>
  `${SLUG}/${chapter.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}`;

/** Where each endpoint, by its operation, and each event is described, below `docs/`. */
export function referenceAddresses(document: OpenApiDocument): Map<string, string> {
  return new Map([
    ...operationsOf(document).map(({ operation: { operationId, tags } }): [string, string] => [
      operationId,
      `${pageOf(tags[0] as string)}#${operationId}`,
    ]),
    ...Object.keys(document.webhooks).map((name): [string, string] => [name, `${EVENTS}#${name}`]),
  ]);
}

/** The pages of the reference by their addresses below `docs/`. */
export function referencePages(document: OpenApiDocument): Map<string, string> {
  const operations = operationsOf(document);
  const chapters = document.tags.map(({ name, description }) => ({
    name,
    description,
    slug: pageOf(name),
    rows: operations.filter(({ operation }) => operation.tags.includes(name)),
  }));
  const nav: NavGroup[] = [
    { title: 'Reference', pages: [{ slug: SLUG, title: 'Overview' }] },
    {
      title: 'Endpoints',
      pages: chapters.map(({ name, slug, rows }) => ({
        slug,
        title: name,
        parts: rows.map(({ operation: { operationId, summary } }) => ({
          anchor: operationId,
          title: summary,
        })),
      })),
    },
    {
      title: 'Webhooks',
      pages: [
        {
          slug: EVENTS,
          title: 'Events',
          parts: Object.keys(document.webhooks).map((name) => ({ anchor: name, title: name })),
        },
      ],
    },
  ];
  const common = commonCodes(document);
  const page = (slug: string, title: string, body: Html): [string, string] => [
    slug,
    shell({
      title,
      nav,
      slug,
      root: slug === SLUG ? '../' : '../../',
      reference: true,
      body: html`<h1>${title}</h1>
        ${body}`,
    }),
  ];
  return new Map([
    page(SLUG, 'API reference', overview(document, chapters, common)),
    ...chapters.map(({ name, description, slug, rows }) =>
      page(
        slug,
        name,
        html`<p class="lead">${prose(description)}</p>
          ${rows.map((row) => operationSection(document, row, common))}`,
      ),
    ),
    page(
      EVENTS,
      'Events',
      html`<p class="lead">
          The service posts these events to your webhook URL and your endpoints.
          <a href="../receiving">Receiving</a> shows how to verify them.
        </p>
        ${envelopeOf(document)}
        ${Object.entries(document.webhooks).map((entry) => eventSection(document, entry))}`,
    ),
  ]);
}

/** The error codes that every endpoint with a key has. */
function commonCodes(document: OpenApiDocument): Set<string> {
  const [first = [], ...others] = operationsOf(document)
    .map(({ operation }) => operation['x-codes'])
    .filter((codes) => codes.length > 0);
  return new Set(first.filter((code) => others.every((codes) => codes.includes(code))));
}

interface Chapter {
  name: string;
  slug: string;
  rows: ReturnType<typeof operationsOf>;
}

/** Shows what all rows share, and lists them: links to the reference of one page end here. */
function overview(
  document: OpenApiDocument,
  chapters: readonly Chapter[],
  common: ReadonlySet<string>,
): Html {
  const { description } = document.info;
  const headers = document.components['headers'] as Record<string, Json>;
  const addresses = referenceAddresses(document);
  const link = (name: string, text: Html): Html =>
    html`<li id="${name}"><a href="${addresses.get(name) ?? ''}">${text}</a></li> `;
  return html`${description.split('\n\n').map((text) => html`<p>${prose(text)}</p> `)}
    <p>
      Base address: <code>${document.servers[0]?.url ?? ''}</code>. For programs:
      <a href="../openapi.json">OpenAPI document</a>,
      <a href="../asyncapi.json">AsyncAPI document</a>,
      <a href="../collection.json">collection for Postman and others</a>.
    </p>
    <h2 id="authentication">Authentication</h2>
    <p>
      <code>x-partner-key</code> has your partner key, which gives full access, or an
      <a href="keys">API key</a> with the scope that the endpoint names. Keep it on your server,
      never in a browser or a URL. <a href="authentication">Authentication</a> has the whole
      picture.
    </p>
    <h2 id="rows" data-overview>Endpoints</h2>
    ${chapters.map(
      ({ name, slug, rows }) =>
        html`<h3 id="${slug.slice(SLUG.length + 1)}"><a href="${slug}">${name}</a></h3>
          <ul class="columns">
            ${rows.map(({ operation: { operationId, summary } }) => link(operationId, html`${summary}`))}
          </ul>`,
    )}
    <h2 id="events"><a href="${EVENTS}">Events</a></h2>
    <ul class="columns">
      ${Object.keys(document.webhooks).map((name) => link(name, html`<code>${name}</code>`))}
    </ul>
    <h2 id="headers">Headers of answers</h2>
    ${table(
      ['Header', 'Meaning'],
      headersOf(document).map(([name, key]) => [
        html`<code>${name}</code>`,
        prose(String(headers[key]?.['description'] ?? '')),
      ]),
    )}
    <h2 id="errors">Error codes of every endpoint</h2>
    ${codeList([...common], '')}`;
}

/** The headers of all answers with the names of their descriptions, each once. */
function headersOf(document: OpenApiDocument): Array<[name: string, key: string]> {
  const answers = [
    ...operationsOf(document).flatMap(({ operation }) => Object.values(operation.responses)),
    ...Object.values(document.components['responses'] ?? {}),
  ] as Array<{ headers?: Record<string, { $ref: string }> }>;
  const names = answers.flatMap(({ headers = {} }) =>
    Object.entries(headers).map(([name, { $ref }]): [string, string] => [
      name,
      $ref.split('/').at(-1) ?? '',
    ]),
  );
  return [...new Map(names)];
}
