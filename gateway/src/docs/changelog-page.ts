// Renders GET /changelog: the active notices, what the release adds, and the version history.
import { API_VERSION, NOTICES } from '@bmg/common/notices';
import { RELEASE } from '../edge/notice-headers';
import type { OpenApiDocument } from '../openapi';
import { HISTORY, NOTICE_TEXTS } from './history';
import { html, table } from './html';
import { shell, type NavGroup } from './shell';

/** What the release adds to the version of the API, beside endpoints. */
const ADDITIONS = [
  'Clients for TypeScript, Python, Java and Go, generated from the OpenAPI document.',
  'The console at /dashboard, and people who sign in to it with a role.',
  'A server of the Model Context Protocol at /mcp.',
  'Documents for tools: /openapi.json, /asyncapi.json and /collection.json.',
  'Events that this service reports itself: partner.alert, webhook.endpoint_disabled and webhook.test.',
];

/** The endpoints beside the contract's, from the document that describes all. */
const addedEndpoints = ({ paths }: OpenApiDocument) =>
  Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([, operation]) => operation['x-addition'])
      .map(([verb, { summary }]) => [html`<code>${verb.toUpperCase()} ${path}</code>`, summary]),
  );

export const changelogPage = (nav: readonly NavGroup[], document: OpenApiDocument): string =>
  shell({
    title: `Changelog ${API_VERSION}`,
    nav,
    root: '',
    body: html`<h1>Changelog</h1>
      <p class="dim">Version ${API_VERSION} of the API, release ${RELEASE} of the software</p>
      <h2 id="notices">Active notices</h2>
      <p>
        Every response lists them in <code>X-Service-Notice</code>, every event in
        <code>meta.notices</code>. An ID never changes, so you can suppress notices that you have
        handled.
      </p>
      ${NOTICES.map(
        ({ id, severity, effective }) =>
          html`<div class="notice" id="${id}">
            <p>
              <code>${id}</code><br /><strong>${severity}</strong>, effective
              <time datetime="${effective}">${effective}</time>
            </p>
            <p>${NOTICE_TEXTS[id] ?? ''}</p>
          </div> `,
      )}
      <h2 id="release">Release ${RELEASE}</h2>
      <p>
        Every response names the release of the software in <code>X-Service-Release</code>. It adds
        to version ${API_VERSION} of the API:
      </p>
      <ul>
        ${ADDITIONS.map((addition) => html`<li>${addition}</li> `)}
      </ul>
      ${table(['Endpoint', 'Purpose'], addedEndpoints(document))}
      <h2 id="history">History</h2>
      <p>Changes are additive unless noted.</p>
      ${table(
        ['Version', 'Date', 'Change'],
        HISTORY.map(({ version, date, change }) => [
          html`<strong id="v${version}">${version}</strong>`,
          date ?? '—',
          change,
        ]),
      )}`,
  });
