// The reference: the OpenAPI document of this gateway, rendered by Scalar. It loads nothing from
// another host and sends nothing to one, except the requests that its reader tries.
import '@scalar/api-reference/style.css';
import './reference.css';
import { addCodes, type CodeGuide } from './codes-table';
import { chosenLanguage } from './language';
import { MENU_EVENT } from './menu';
import { fill, findReader } from './reader';
import { repair } from './repair';

interface Operation {
  operationId: string;
  tags?: string[];
  description?: string;
  'x-codes'?: string[];
  'x-rate-limit'?: Limits;
  'x-addition'?: boolean;
}

interface Limits {
  counted: boolean;
  body?: { bytes_max: number; values_max: number };
  page?: { default?: number; max: number };
  in_flight_max?: Record<string, number>;
}

interface ApiDocument {
  servers: Array<{ url: string }>;
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, { post: Operation }>;
}

/** The samples are in curl, Node, Python, PHP, Go and Java. */
const HIDDEN = {
  shell: ['httpie', 'wget'],
  node: ['axios', 'ofetch', 'undici'],
  python: ['httpx', 'python3'],
  php: ['guzzle'],
  java: ['asynchttp', 'okhttp', 'unirest'],
  ...Object.fromEntries(
    'c clojure csharp dart fsharp http js kotlin objc ocaml powershell r ruby rust swift'
      .split(' ')
      .map((language) => [language, true as const]),
  ),
};

const CURL = { targetKey: 'shell', clientKey: 'curl' } as const;
/** The clients, keyed by the names of the guides' tabs. */
const CLIENTS: Readonly<Record<string, { targetKey: 'node' | 'python'; clientKey: string }>> = {
  'Node.js': { targetKey: 'node', clientKey: 'fetch' },
  Python: { targetKey: 'python', clientKey: 'requests' },
};

const { nonce } = document.querySelector('script[nonce]') as HTMLScriptElement;
const createElement = document.createElement.bind(document);
// The renderer adds style elements: the content security policy allows them with the page's nonce.
// It also makes a second main part, for the dialog in which a request is tried: a page has one, and
// no role can take that from it.
let has_main = false;
document.createElement = (name: string, options?: ElementCreationOptions): HTMLElement => {
  const element = createElement(name === 'main' && has_main ? 'div' : name, options);
  has_main ||= name === 'main';
  if (name === 'style') element.nonce = nonce;
  return element;
};

const read = async <T>(path: string): Promise<T> => (await (await fetch(path)).json()) as T;
const [published, guide, reader] = await Promise.all([
  (await fetch('../openapi.json')).text(),
  read<Record<string, CodeGuide>>('codes.json'),
  findReader(),
]);
// The samples name the reader's own number.
const content = JSON.parse(
  reader ? fill(published, reader, reader.numbers[0]) : published,
) as ApiDocument;
// Requests that the reader tries go to the gateway that served this page.
content.servers = [{ url: new URL('../v1', location.href).href }];

const MIB = 1024 * 1024;

/** The limits of an operation in words, each a sentence. */
function limitsOf({ counted, body, page, in_flight_max = {} }: Limits): string[] {
  const { uncounted, ...others } = in_flight_max;
  const count = (value: number): string => value.toLocaleString('en');
  return [
    ...(counted ? [] : ['Does not count towards the rate limit.']),
    ...(uncounted
      ? [
          `A partner may have ${uncounted} such requests in flight; others wait up to 5 s for a place.`,
        ]
      : []),
    ...Object.entries(others).map(
      ([name, max]) => `A partner may have ${max} ${name.replaceAll('_', ' ')} in flight.`,
    ),
    ...(page ? [`A page has up to ${count(page.max)} items.`] : []),
    ...(body
      ? [`A body has up to ${body.bytes_max / MIB} MiB and ${count(body.values_max)} values.`]
      : []),
  ];
}

/** Facts of an operation that the renderer does not show: its limits. */
function described(operation: Operation): string {
  const { description = '', 'x-codes': codes = [], ...rest } = operation;
  const { 'x-rate-limit': limits } = rest;
  if (codes.length === 0) return description;
  return [
    description,
    ...(limits ? [limitsOf(limits)] : []).map((sentences) => sentences.join(' ')).filter(Boolean),
    ...(rest['x-addition'] ? ['An addition to the API’s original 68 endpoints.'] : []),
  ].join('\n\n');
}

const slugOf = (tag: string): string => tag.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
/** The renderer's anchors by the short ones of our links: `sendText`, `message.received`. */
const anchors = new Map<string, string>();
const codes_of = new Map<string, string[]>();
for (const item of Object.values(content.paths)) {
  for (const operation of Object.values(item)) {
    const { operationId, tags = [] } = operation;
    operation.description = described(operation);
    codes_of.set(operationId, operation['x-codes'] ?? []);
    anchors.set(operationId, `tag/${slugOf(tags[0] ?? '')}/${operationId}`);
  }
}
for (const name of Object.keys(content.webhooks)) anchors.set(name, `webhook/${name}`);

function followShortAnchor(): void {
  const anchor = anchors.get(decodeURIComponent(location.hash.slice(1)));
  if (anchor !== undefined) location.replace(`#${anchor}`);
}
followShortAnchor();
window.addEventListener('hashchange', followShortAnchor);

const { createApiReference } = await import('@scalar/api-reference');
createApiReference('#reference', {
  content,
  slug: 'api',
  theme: 'none',
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  showDeveloperTools: 'never',
  hideClientButton: true,
  documentDownloadType: 'none',
  // The header of the documentation has the search, of guides and error codes too.
  hideSearch: true,
  orderSchemaPropertiesBy: 'preserve',
  hiddenClients: HIDDEN,
  defaultHttpClient: CLIENTS[chosenLanguage() ?? ''] ?? CURL,
  generateTagSlug: ({ name }) => slugOf(name ?? ''),
  generateOperationSlug: ({ operationId }) => operationId ?? '',
  generateWebhookSlug: ({ name }) => name,
});

// On a phone the renderer's own menu is hidden, and its list of endpoints opens with that of the
// page.
document.body.addEventListener(MENU_EVENT, ({ detail: open }: CustomEventInit<boolean>) => {
  const name = open ? 'Open Menu' : 'Close Menu';
  const buttons = [...document.querySelectorAll<HTMLElement>('.t-doc__header > header button')];
  buttons
    .find((one) => `${one.textContent ?? ''}${one.getAttribute('aria-label') ?? ''}`.includes(name))
    ?.click();
});

/** The last part of the section's address. */
const operationOf = (details: Element): string =>
  details.closest('[id*="/tag/"]')?.id.split('/').at(-1) ?? '';

/** The renderer draws sections when they come into view: each is completed then. */
function complete(): void {
  for (const details of document.querySelectorAll('.operation-details')) {
    addCodes(details, codes_of.get(operationOf(details)) ?? [], guide);
  }
  repair(document);
}

let scheduled = false;
new MutationObserver(() => {
  if (scheduled) return;
  scheduled = true;
  requestAnimationFrame(() => {
    scheduled = false;
    complete();
  });
}).observe(document.body, {
  childList: true,
  subtree: true,
  attributeFilter: ['aria-selected', 'aria-label', 'aria-describedby', 'aria-controls', 'role'],
});
complete();
