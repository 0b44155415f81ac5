// Renders GET /docs, the reference, from the OpenAPI document. Nothing is collapsed, so that the browser's
// search finds everything.
import { CATALOG, type ErrorCode } from '@bmg/common/errors';
import { curlOf, parametersOf } from './curl';
import { ERROR_GUIDE, UPSTREAM_GUIDE } from '../openapi/error-guide';
import { eventsSection } from './events-section';
import { fieldsOf, textOf } from './fields';
import { html, none, page, prose, table, type Html } from './html';
import type { Json, OpenApiDocument, OperationObject, Verb } from './types';

interface Entry {
  verb: Verb;
  path: string;
  operation: OperationObject;
}

export function referencePage(document: OpenApiDocument): string {
  const entries = entriesOf(document);
  const chapters = document.tags.map(({ name }) => ({
    name,
    entries: entries.filter(({ operation }) => operation.tags.includes(name)),
  }));
  const { title, version, description } = document.info;
  return page(
    `${title} ${version}`,
    html`<h1>${title}</h1>
      <p class="dim">
        Version ${version} · base address <code>${document.servers[0]?.url ?? ''}</code> ·
        <a href="openapi.json">OpenAPI document</a> · <a href="changelog">changelog</a>
      </p>
      ${description.split('\n\n').map((text) => html`<p>${prose(text)}</p> `)} ${conventions}
      <nav aria-label="Endpoints">
        <h2 id="endpoints">Endpoints</h2>
        ${chapters.map(
          (chapter) =>
            html`<h4>${chapter.name}</h4>
              <ul>
                ${chapter.entries.map((entry) => html`<li><a href="#${entry.operation.operationId}">${heading(entry)}</a></li> `)}
              </ul> `,
        )}
        <p>
          <a href="#events">Events</a> · <a href="#errors">Error codes</a> ·
          <a href="#upstream-codes">Upstream codes</a>
        </p>
      </nav>
      ${chapters.map(
        (chapter) =>
          html`<h2>${chapter.name}</h2>
            ${chapter.entries.map((entry) => section(document, entry))}`,
      )}
      ${eventsSection(document)} ${errors}`,
  );
}

const conventions = html`<h2 id="conventions">Conventions</h2>
  <ul>
    <li>
      A path that does not exist and a method that a path does not have are both answered 404
      <code>NOT_FOUND</code>: the published codes have none for 405.
    </li>
    <li>
      Every response has the headers <code>X-Request-Id</code> (your own, if you sent a valid one)
      and <code>traceparent</code>, and the notice headers <code>X-Service-Api-Version</code>,
      <code>X-Service-Changelog</code>, <code>X-Service-Notice</code> and
      <code>X-Service-Notice-Level</code>. Log the level, and alert on
      <code>action_required</code> and <code>breaking</code>.
    </li>
    <li>
      The default rate limit is 200 requests per second. Endpoints that count towards it return
      <code>RateLimit-Limit</code>, <code>RateLimit-Remaining</code> and
      <code>RateLimit-Reset</code>. Above the limit they return 429 with <code>Retry-After</code>.
    </li>
    <li>
      Endpoints that accept an <code>Idempotency-Key</code> can be retried safely: for 24 hours, a
      request with the same key and body gets the first response again, with
      <code>Idempotency-Replayed: true</code>.
    </li>
    <li>
      A <code>limit</code> above the maximum is lowered to it, and the response says which limit was
      used.
    </li>
    <li>
      Timestamps in request and response bodies are ISO 8601. Phone numbers are in international
      format without a plus sign.
    </li>
  </ul> `;

const entriesOf = (document: OpenApiDocument): Entry[] =>
  Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([verb, operation]) => ({ verb: verb as Verb, path, operation })),
  );

const heading = ({ verb, path }: Entry): Html =>
  html`<code><span class="verb ${verb}">${verb.toUpperCase()}</span> ${path}</code>`;

function section(document: OpenApiDocument, entry: Entry): Html {
  const { operation } = entry;
  return html`<section id="${operation.operationId}">
    <h3>${heading(entry)}</h3>
    <p>${operation.summary}. ${operation.description ? prose(operation.description) : none}</p>
    ${operation['x-counted'] || operation['x-codes'].length === 0 ? none : html`<p class="dim">Does not count towards the rate limit. A partner may have 20 such requests in flight.</p>`}
    ${operation['x-addition'] ? html`<p class="dim">An addition to the API’s original 68 endpoints.</p>` : none}
    ${parameterTable(document, operation)} ${requestTable(document, operation)}
    <pre tabindex="0">${curlOf(document, entry)}</pre>
    ${answer(document, operation)} ${codes(operation)}
  </section> `;
}

function parameterTable(document: OpenApiDocument, operation: OperationObject): Html {
  const rows = parametersOf(document, operation).map(
    ({ name, in: place, required, description, schema }) => [
      html`<code>${name}</code>`,
      place,
      required ? 'yes' : '',
      prose(textOf({ ...schema, ...(description !== undefined && { description }) })),
    ],
  );
  return table(['Parameter', 'In', 'Required', 'Description'], rows);
}

function requestTable(document: OpenApiDocument, { requestBody }: OperationObject): Html {
  const schema = requestBody?.content['application/json']?.schema as Json | undefined;
  if (!schema) return none;
  return html`<h4>Body${requestBody?.required ? '' : ' (optional)'}</h4>
    ${fieldTable(document, schema)}`;
}

const fieldTable = (document: OpenApiDocument, schema: Json): Html =>
  table(
    ['Field', 'Type', 'Required', 'Description'],
    fieldsOf(document, schema).map(({ path, type, required, text }) => [
      html`<code>${path}</code>`,
      type,
      required ? 'yes' : '',
      prose(text),
    ]),
  );

function answer(document: OpenApiDocument, { responses }: OperationObject): Html {
  const successes = Object.entries(responses).filter(([status]) => status.startsWith('2'));
  const [first] = successes;
  if (!first || '$ref' in first[1]) return none;
  const json = first[1].content['application/json'];
  const statuses = successes.map(([status]) => status).join(' or ');
  if (!json)
    return html`<h4>Response ${statuses}</h4>
      <p>The file.</p>`;
  return html`<h4>Response ${statuses}</h4>
    <pre tabindex="0">${JSON.stringify(json.example, null, 2)}</pre>
    ${answerFields(document, json.schema as Json)}`;
}

/** Fields of which the example does not say enough: described ones, and those that may be absent or null. */
function answerFields(document: OpenApiDocument, schema: Json): Html {
  const rows = fieldsOf(document, schema).filter(({ path }) => path !== 'success');
  const shown = rows.filter(
    ({ required, text, type }) => !required || text || type.includes('null'),
  );
  return table(
    ['Field', 'Type', 'Required', 'Description'],
    shown.map(({ path, type, required, text }) => [
      html`<code>${path}</code>`,
      type,
      required ? '' : 'may be absent',
      prose(text),
    ]),
  );
}

const codes = (operation: OperationObject): Html =>
  operation['x-codes'].length === 0
    ? none
    : html`<p class="dim">
        Error codes:
        ${operation['x-codes'].map((code) => html`<a href="#${code}"><code>${code}</code></a> `)}
      </p>`;

const errors = html`<h2 id="errors">Error codes</h2>
  <p>
    Branch on <code>error.code</code>, never on the message. Retry only if
    <code>error.retryable</code> is true; the value in the response takes precedence over this
    table.
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
