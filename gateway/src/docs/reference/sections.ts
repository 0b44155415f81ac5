// Renders the sections of the reference: an endpoint or an event, with its description, its fields
// and its samples.
import { CATALOG, type ErrorCode } from '@bmg/common/errors';
import { ERROR_GUIDE } from '../../error-guide';
import {
  resolved,
  type AnswerObject,
  type FoundOperation,
  type OpenApiDocument,
} from '../../openapi';
import type { OperationLimits } from '../../openapi/limits';
import type { Json, Parameter } from '../../openapi/schemas';
import type { WebhookItem } from '../../openapi/webhooks';
import { codeBlock } from '../code-block';
import { Html, html, none, prose } from '../html';
import { fieldList, schemaFields } from './fields';

const JSON_TYPE = 'application/json';
const MIB = 1024 * 1024;

const count = (value: number): string => value.toLocaleString('en');

/** The limits of an operation in words, each a sentence. */
export function limitsIn({ counted, body, page, in_flight_max = {} }: OperationLimits): string[] {
  const { uncounted, ...others } = in_flight_max;
  return given([
    !counted && 'Does not count towards the rate limit.',
    uncounted &&
      `A partner may have ${uncounted} such requests in flight; others wait up to 5 s for a place.`,
    ...Object.entries(others).map(
      ([name, max]) => `A partner may have ${max} ${name.replaceAll('_', ' ')} in flight.`,
    ),
    page && `A page has up to ${count(page.max)} items.`,
    body && `A body has up to ${body.bytes_max / MIB} MiB and ${count(body.values_max)} values.`,
  ]);
}

/** The texts that apply. */
const given = (texts: ReadonlyArray<string | number | false | undefined>): string[] =>
  texts.filter((text) => typeof text === 'string');

/** The curl command of an endpoint: identifiers in its path are variables of the environment. */
export function curlOf(
  document: OpenApiDocument,
  { verb, path, operation }: FoundOperation,
): string {
  const parameters = operation.parameters.map((one) => resolved(document, one));
  const required = (place: Parameter['in']): Parameter[] =>
    parameters.filter((one) => one.in === place && one.required);
  const variable = (name: string): string => `$${name.toUpperCase()}`;
  const query = required('query').map(({ name }) => `${name}=${variable(name)}`);
  const address = path.replace(/\{(\w+)\}/g, (_whole, name: string) => variable(name));
  const body = operation.requestBody?.content[JSON_TYPE]?.example;
  const isChosen = verb === 'get' || (verb === 'post' && body !== undefined);
  const lines = given([
    `curl -s "$BASE_URL${[address, ...query].join('?')}"`,
    !isChosen && `-X ${verb.toUpperCase()}`,
    operation.security?.length !== 0 && '-H "x-partner-key: $KEY"',
    ...required('header').map(
      ({ name, schema }) => `-H '${name}: ${String((schema['examples'] as unknown[])[0])}'`,
    ),
    body !== undefined && `-H 'content-type: ${JSON_TYPE}'`,
    // An apostrophe would end the quotes of the shell.
    body !== undefined &&
      `-d '${JSON.stringify(body, null, 2).replaceAll("'", String.raw`\u0027`)}'`,
  ]);
  return `${lines.join(' \\\n  ')}\n`;
}

const block = (code: string, language: string): Html => new Html(codeBlock(code, language));
const jsonBlock = (value: unknown): Html => block(`${JSON.stringify(value, null, 2)}\n`, 'json');

interface Section {
  id: string;
  title: Html;
  facts: Html;
  samples: Html;
}

const section = ({ id, title, facts, samples }: Section): Html =>
  html`<section class="row" id="${id}" aria-labelledby="${id}-title">
    <div class="facts">
      <h2 id="${id}-title"><a href="#${id}">${title}</a></h2>
      ${facts}
    </div>
    <div class="samples">${samples}</div>
  </section> `;

const PLACES: ReadonlyArray<[place: Parameter['in'], title: string]> = [
  ['path', 'Path'],
  ['query', 'Query'],
  ['header', 'Headers'],
];

/** The section of an endpoint. `common` are the error codes that every endpoint has. */
export function operationSection(
  document: OpenApiDocument,
  found: FoundOperation,
  common: ReadonlySet<string>,
): Html {
  const { verb, path, operation } = found;
  const { operationId, summary, description, requestBody } = operation;
  const parameters = operation.parameters.map((one) => resolved(document, one));
  const body = requestBody?.content[JSON_TYPE];
  const answers = answersOf(found);
  return section({
    id: operationId,
    title: html`${summary}`,
    facts: html`<p class="address" ${operation['x-person-only'] ? none : html`data-try`}>
        <span class="verb ${verb}">${verb.toUpperCase()}</span> <code>${path}</code>
      </p>
      ${description ? html`<p>${prose(description)}</p>` : none} ${notesOf(found)}
      ${PLACES.map(([place, title]) => {
        const fields = parameters.filter((one) => one.in === place);
        return fields.length === 0
          ? none
          : html`<h3>${title}</h3>
              ${fieldList(document, fields, 'request')}`;
      })}
      ${
        body
          ? html`<h3>Body</h3>
              ${schemaFields(document, body.schema as Json, 'request')}`
          : none
      }
      ${answers.map(
        ({ statuses, answer }) =>
          html`<h3>Answer <span class="dim">${statuses.join(' or ')}</span></h3>
            ${contentOf(document, answer)}`,
      )}
      ${errorsOf(operation['x-codes'], common)}`,
    samples: html`${operation['x-person-only'] ? none : block(curlOf(document, found), 'sh')}
    ${operation['x-person-only'] && body ? jsonBlock(body.example) : none}
    ${answers.map(({ answer }) => {
      const { example } = answer.content[JSON_TYPE] ?? {};
      return example === undefined
        ? none
        : html`<p class="dim">Answer</p>
            ${jsonBlock(example)}`;
    })}`,
  });
}

/** Rights and limits. */
function notesOf({ operation }: FoundOperation): Html {
  const scope = operation['x-key-scope'];
  const sentences = given([
    operation['x-person-only']
      ? 'Only a person who is signed in to the console may do this; no key can.'
      : scope && `An API key needs the scope \`${scope}\`.`,
    operation.security?.some((one) => 'ConnectToken' in one) &&
      'The token of a connect session in `x-connect-token` is enough, too.',
    ...(operation['x-codes'].length > 0 ? limitsIn(operation['x-rate-limit']) : []),
    operation['x-addition'] && 'An addition to the API’s original 68 endpoints.',
  ]);
  return sentences.length === 0 ? none : html`<p class="dim">${prose(sentences.join(' '))}</p>`;
}

interface Answer {
  statuses: string[];
  answer: AnswerObject;
}

/** The answers with a content of their own, not the shared errors; equal ones together. */
function answersOf({ operation }: FoundOperation): Answer[] {
  const answers: Answer[] = [];
  for (const [status, answer] of Object.entries(operation.responses)) {
    if ('$ref' in answer) continue;
    const same = answers.find((one) => one.answer.content === answer.content);
    if (same) same.statuses.push(status);
    else answers.push({ statuses: [status], answer });
  }
  return answers;
}

const contentOf = (document: OpenApiDocument, { description, content }: AnswerObject): Html => {
  const { [JSON_TYPE]: json, ...others } = content;
  const notes = Object.entries(others).map(([type, { schema }]) => {
    const { description: text = '' } = schema as { description?: string };
    return html`<p><code>${type}</code>: ${prose(text)}</p>`;
  });
  return html`${description.endsWith('.') ? html`<p>${prose(description)}</p>` : none}
  ${json ? schemaFields(document, json.schema as Json, 'answer') : none} ${notes}`;
};

/** The codes, each with a link to its guide; `docs` leads to the pages of the documentation. */
export const codeList = (codes: readonly string[], docs: string): Html =>
  html`<ul class="fields">
    ${(codes as ErrorCode[]).map((code) => {
      const { http, retryable } = CATALOG[code];
      const { meaning, action } = ERROR_GUIDE[code];
      return html`<li>
        <p class="field">
          <a href="${docs}errors#${code}"><code>${code}</code></a>
          <span class="dim">HTTP ${http}${retryable ? ', retryable' : ''}</span>
        </p>
        <p>${meaning} ${action}</p>
      </li> `;
    })}
  </ul>`;

function errorsOf(codes: readonly string[], common: ReadonlySet<string>): Html {
  const own = codes.filter((code) => !common.has(code));
  if (codes.length === 0) return none;
  return html`<h3>Errors</h3>
    <details>
      <summary>${own.length} error ${own.length === 1 ? 'code' : 'codes'}</summary>
      ${codeList(own, '../')}
    </details>
    <p class="dim">
      And the <a href="../reference#errors">${common.size} codes that every endpoint has</a>.
    </p>`;
}

/** The section of an event: the fields of its data, and one event as it is sent. */
export function eventSection(
  document: OpenApiDocument,
  [name, { post }]: [name: string, item: WebhookItem],
): Html {
  const { schema, example } = post.requestBody.content[JSON_TYPE] as {
    schema: Json;
    example: unknown;
  };
  const { data, waba_id } = schema['properties'] as Record<string, Json>;
  return section({
    id: name,
    title: html`${name}`,
    facts: html`<p>${post.summary}.</p>
      ${post.description ? html`<p>${prose(post.description)}</p>` : none}
      ${
        isNull(waba_id)
          ? html`<p>
              It belongs to no account: <code>waba_id</code> and <code>phone_number_id</code> are
              null.
            </p>`
          : none
      }
      <h3>Fields of <code>data</code></h3>
      ${schemaFields(document, data ?? {}, 'answer')}`,
    samples: jsonBlock(example),
  });
}

/** Generators know no type that only has null; see `portable.ts`. */
const isNull = (schema: Json | undefined): boolean =>
  (schema?.['if'] as Json | undefined)?.['type'] === 'null';

/** The part of an event that all have, and the headers with which it is sent. */
export function envelopeOf(document: OpenApiDocument): Html {
  const [{ post }] = Object.values(document.webhooks) as [WebhookItem];
  const { schema } = post.requestBody.content[JSON_TYPE] as { schema: Json };
  const { data: _data, event, ...properties } = schema['properties'] as Record<string, Json>;
  const { const: _name, ...type } = event as Json;
  return html`<h2 id="envelope">Every event</h2>
    ${schemaFields(
      document,
      {
        ...schema,
        properties: {
          event: { ...type, description: 'Name of the event.' },
          ...properties,
          data: { type: 'object', description: 'The fields of the event, below.' },
        },
      },
      'answer',
    )}
    <h2 id="headers">Headers</h2>
    ${fieldList(document, post.parameters, 'answer')}
    <h2 id="your-answer">Your answer</h2>
    <ul>
      ${Object.entries(post.responses).map(
        ([status, { description }]) => html`<li><code>${status}</code>: ${prose(description)}</li>`,
      )}
    </ul>`;
}
