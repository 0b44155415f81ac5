// Renders GET /docs: the guides, every endpoint and event with a link to its reference, and the error
// codes, whose anchors are in the answers of the API.
import { CATALOG, type ErrorCode } from '@bmg/common/errors';
import { ERROR_GUIDE, UPSTREAM_GUIDE } from '../openapi/error-guide';
import { html, prose, table, type Html } from './html';
import { shell, type NavGroup } from './shell';
import { operationsOf, type OpenApiDocument } from '../openapi';

export function homePage(document: OpenApiDocument, nav: readonly NavGroup[]): string {
  const { title, version, description } = document.info;
  return shell({
    title: `${title} ${version}`,
    nav,
    outside: true,
    body: html`<h1>${title}</h1>
      <p class="dim">
        Version ${version} · base address <code>${document.servers[0]?.url ?? ''}</code> ·
        <a href="openapi.json">OpenAPI document</a> ·
        <a href="asyncapi.json">AsyncAPI document</a> · <a href="changelog">changelog</a> ·
        <a href="llms.txt">for machines</a>
      </p>
      ${description.split('\n\n').map((text) => html`<p>${prose(text)}</p> `)}
      <p>
        New here? The <a href="docs/quick-start">quick start</a> leads to a delivered message in ten
        minutes.
      </p>
      ${endpoints(document)} ${events(document)} ${errors}`,
  });
}

function endpoints(document: OpenApiDocument): Html {
  const operations = operationsOf(document);
  return html`<h2 id="endpoints">Endpoints</h2>
    ${document.tags.map(
      ({ name }) =>
        html`<h3>${name}</h3>
          <ul class="columns">
            ${operations
              .filter(({ operation }) => operation.tags.includes(name))
              .map(
                ({ verb, path, operation: { operationId, summary } }) =>
                  html`<li>
                    <a id="${operationId}" href="docs/reference#${operationId}" title="${summary}"
                      ><code
                        ><span class="verb ${verb}">${verb.toUpperCase()}</span> ${path}</code
                      ></a
                    >
                  </li> `,
              )}
          </ul> `,
    )}`;
}

const events = ({ webhooks }: OpenApiDocument): Html =>
  html`<h2 id="events">Events</h2>
    <p>
      The service posts every event of your clients’ numbers to your webhook URL, signed twice
      (<code>x-service-signature</code>, <code>webhook-signature</code>):
      <a id="event-headers" href="docs/receiving#receiving-events">headers</a>,
      <a id="event-signature" href="docs/receiving#verify">signatures</a>,
      <a id="event-retries" href="docs/receiving#recover">retries</a>.
    </p>
    <div id="event-names">
      ${table(
        ['Event', 'When'],
        Object.entries(webhooks).map(([name, { post }]) => [
          html`<a id="${name}" href="docs/reference#${name}"><code>${name}</code></a>`,
          prose(`${post.summary}.`),
        ]),
      )}
    </div>`;

const errors = html`<h2 id="errors">Error codes</h2>
  <p>
    Branch on <code>error.code</code>, never on the message. Retry only if
    <code>error.retryable</code> is true; the value in the response takes precedence over this
    table. <a href="docs/errors">Errors and idempotency</a> has the whole picture.
  </p>
  ${table(
    ['Code', 'HTTP', 'Retryable', 'Meaning', 'What to do'],
    (Object.keys(CATALOG) as ErrorCode[]).map((code) => [
      html`<code id="${code}">${code}</code>`,
      CATALOG[code].http,
      CATALOG[code].retryable ? 'yes' : 'no',
      ERROR_GUIDE[code].meaning,
      ERROR_GUIDE[code].action,
    ]),
  )}
  <h2 id="upstream-codes">Upstream codes</h2>
  <p>
    Codes of the upstream in <code>error.upstream_code</code> that you should handle. Others can
    occur.
  </p>
  ${table(
    ['upstream_code', 'Meaning', 'What to do'],
    UPSTREAM_GUIDE.map(({ upstream_code, meaning, action }) => [
      html`<code id="upstream-${upstream_code}">${upstream_code}</code>`,
      meaning,
      action,
    ]),
  )} `;
