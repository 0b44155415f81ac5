// Sends a request of the reference from the page: a dialog with its key, its parameters and its
// body, and then the answer. Loaded when a reader opens the first dialog.
import type { FoundOperation, OpenApiDocument } from '../../src/openapi';
import type { Parameter } from '../../src/openapi/schemas';
import { element } from './element';
import { highlight } from './highlighter';
import { fill, findReader } from './reader';

const JSON_TYPE = 'application/json';
const KEY: Parameter = { name: 'x-partner-key', in: 'header', required: true, schema: {} };

/** The gateway's root, seen from this page. */
const root = `${document.body.dataset['docs'] ?? ''}../`;
let loaded: Promise<OpenApiDocument> | undefined;

/** The examples name the reader's own number. */
async function read(): Promise<OpenApiDocument> {
  const [text, reader] = await Promise.all([
    fetch(`${root}openapi.json`).then((answer) => answer.text()),
    findReader(),
  ]);
  return JSON.parse(reader ? fill(text, reader, reader.numbers[0]) : text) as OpenApiDocument;
}

function inputOf({ name, required, schema }: Parameter): HTMLInputElement {
  const [example] = required ? ((schema['examples'] as unknown[] | undefined) ?? []) : [];
  const input = element('input', { name, value: String(example ?? '') });
  input.type = name === KEY.name ? 'password' : 'text';
  input.autocomplete = 'off';
  input.required = required;
  return input;
}

/** An endpoint with its parameters, of which the key is the first. */
function find({ paths, components }: OpenApiDocument, id: string) {
  const found = Object.entries(paths)
    .flatMap(([path, item]) =>
      Object.entries(item).map(([verb, operation]) => ({ path, verb, operation })),
    )
    .find(({ operation }) => operation.operationId === id) as FoundOperation;
  const { security, parameters } = found.operation;
  const resolved = parameters.map((one) =>
    '$ref' in one
      ? (components['parameters']?.[one.$ref.split('/').at(-1) ?? ''] as Parameter)
      : one,
  );
  return { ...found, parameters: [...(security?.length === 0 ? [] : [KEY]), ...resolved] };
}

interface Filled extends Parameter {
  input: HTMLInputElement;
}

/** Sends what the fields hold; an endpoint without a body has none. */
function send(verb: string, path: string, fields: Filled[], body?: string): Promise<Response> {
  const headers = new Headers();
  const query = new URLSearchParams();
  let address = path;
  for (const { name, in: place, input } of fields) {
    if (input.value === '') continue;
    if (place === 'path') address = address.replace(`{${name}}`, encodeURIComponent(input.value));
    if (place === 'query') query.set(name, input.value);
    if (place === 'header') headers.set(name, input.value);
  }
  if (body !== undefined) headers.set('content-type', JSON_TYPE);
  const search = query.size > 0 ? `?${query.toString()}` : '';
  const method = verb.toUpperCase();
  return fetch(`${root}v1${address}${search}`, { method, headers, body: body ?? null });
}

/** Opens the dialog of an endpoint. */
export async function tryRequest(id: string): Promise<void> {
  const { path, verb, operation, parameters } = find(await (loaded ??= read()), id);
  const fields = parameters.map((parameter) => ({ ...parameter, input: inputOf(parameter) }));
  const example = operation.requestBody?.content[JSON_TYPE]?.example;
  const body = element('textarea', { rows: '8', spellcheck: 'false' });
  body.value = JSON.stringify(example, null, 2) ?? '';

  const status = element('p', { role: 'status' });
  const code = element('code');
  const answer = element('pre', { tabindex: '0', 'aria-label': 'Answer' }, code);
  answer.hidden = true;
  const button = element('button', { type: 'submit', class: 'primary' }, 'Send');
  const close = element('button', { type: 'button' }, 'Close');
  const form = element(
    'form',
    {},
    ...fields.map(({ name, input }) => element('label', {}, element('code', {}, name), input)),
    ...(example === undefined ? [] : [element('label', {}, 'Body', body)]),
    element('p', { class: 'actions' }, button, close),
  );
  const title = element('h2', { id: 'try-title' }, `${verb.toUpperCase()} ${path}`);
  const dialog = element('dialog', { 'aria-labelledby': title.id }, title, form, status, answer);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    button.disabled = true;
    void run().finally(() => (button.disabled = false));
  });
  const run = async (): Promise<void> => {
    status.textContent = 'Sending …';
    answer.hidden = true;
    try {
      const reply = await send(verb, path, fields, example === undefined ? example : body.value);
      const text = await reply.text();
      const is_json = reply.headers.get('content-type')?.startsWith(JSON_TYPE) ?? false;
      status.textContent = `${reply.status} ${reply.statusText}`.trim();
      const shown = is_json ? JSON.stringify(JSON.parse(text), null, 2) : text;
      highlight(code, shown, is_json ? 'json' : 'text');
      answer.hidden = false;
    } catch (error) {
      status.textContent = `No answer: ${(error as Error).message}`;
    }
  };
  close.addEventListener('click', () => dialog.close());
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
