// Renders GET /docs: a send with its event, every endpoint and event with a link to its reference,
// and the error codes, whose anchors are in the answers of the API.
import { CATALOG } from '@bmg/common/errors';
import { ERROR_CODES, ERROR_GUIDE, UPSTREAM_GUIDE } from '../error-guide';
import { codeBlock } from './code-block';
import { Html, html, prose, table } from './html';
import { referenceAddresses } from './reference';
import { shell, type NavGroup } from './shell';
import { operationsOf, type OpenApiDocument } from '../openapi';

export function homePage(document: OpenApiDocument, nav: readonly NavGroup[]): string {
  const { title, version, description } = document.info;
  const [first = '', ...others] = description.split('\n\n');
  return shell({
    title: `${title} ${version}`,
    nav,
    root: '',
    body: html`<h1>${title}</h1>
      <p class="lead">${prose(first)}</p>
      <p class="actions">
        <a class="primary" href="docs/quick-start">Quick start</a>
        <a href="docs/reference">Reference</a> <a href="docs/testing">Testing</a>
        <a href="docs/answers">Answers</a> <a href="dashboard">Console</a>
      </p>
      <ul class="gains">
        ${GAINS.map(
          ({ href, title, text }) => html`<li><a href="docs/${href}">${title}</a> ${text}</li> `,
        )}
      </ul>
      ${hero}
      <p class="dim">
        Version ${version} · base address <code>${document.servers[0]?.url ?? ''}</code> ·
        <a href="openapi.json">OpenAPI document</a> ·
        <a href="asyncapi.json">AsyncAPI document</a> · <a href="changelog">changelog</a> ·
        <a href="llms.txt">for machines</a>
      </p>
      ${others.map((text) => html`<p>${prose(text)}</p> `)} ${endpoints(document)}
      ${events(document)} ${errors}`,
  });
}

/** What a partner gains, each with the page that shows it. */
const GAINS: ReadonlyArray<{ href: string; title: string; text: string }> = [
  {
    href: 'embedding',
    title: 'Connect numbers',
    text: 'Clients sign up on a hosted page or on yours; one key serves them all.',
  },
  {
    href: 'errors#retrying-a-send-safely',
    title: 'Retry safely',
    text: 'A repeated request gets the first answer and sends nothing twice.',
  },
  {
    href: 'receiving#recover',
    title: 'Lose no event',
    text: 'Signed, retried for days, and kept in a log that you can replay.',
  },
  {
    href: 'broadcasts',
    title: 'Broadcast',
    text: 'One template to many contacts, at the rate that the number allows.',
  },
  {
    href: 'costs',
    title: 'Know the cost',
    text: 'The price before you send, the cost of each message after.',
  },
];

const SEND = `curl -s "$BASE_URL/messages/send" \\
  -H "x-partner-key: $KEY" \\
  -H 'x-waba-id: 900000000000001' \\
  -H 'content-type: application/json' \\
  -d '{"to":"15550100777",
  "text":"Your order is on its way."}'
`;

const EVENT = `{
  "event": "message.delivered",
  "waba_id": "900000000000001",
  "data": { "message_id": "wamid.HBgL…" },
  "meta": { "event_id": "evt_8_kN_6GiC20…" }
}
`;

/** One screen that shows what this is: a send, and the event that comes back. */
const hero = html`<div class="hero">
    <section aria-labelledby="hero-send">
      <h2 id="hero-send">Send with one request</h2>
      ${new Html(codeBlock(SEND, 'sh'))}
    </section>
    <section aria-labelledby="hero-event">
      <h2 id="hero-event">Get its events, signed</h2>
      ${new Html(codeBlock(EVENT, 'json'))}
    </section>
  </div>
  <section aria-labelledby="live" class="live">
    <h2 id="live">See it live</h2>
    <div id="live-run">
      <p>
        Sign in to the <a href="dashboard">console</a>, then send a message from here and watch its
        events come.
      </p>
    </div>
  </section>`;

function endpoints(document: OpenApiDocument): Html {
  const operations = operationsOf(document);
  const addresses = referenceAddresses(document);
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
                    <a
                      id="${operationId}"
                      href="docs/${addresses.get(operationId) ?? ''}"
                      title="${summary}"
                      ><code
                        ><span class="verb ${verb}">${verb.toUpperCase()}</span> ${path}</code
                      ></a
                    >
                  </li> `,
              )}
          </ul> `,
    )}`;
}

function events(document: OpenApiDocument): Html {
  const addresses = referenceAddresses(document);
  return html`<h2 id="events">Events</h2>
    <p>
      The service posts every event of your clients’ numbers to your webhook URL, signed twice
      (<code>x-service-signature</code>, <code>webhook-signature</code>):
      <a id="event-headers" href="docs/receiving#receiving-events">headers</a>,
      <a id="event-signature" href="docs/receiving#verify">signatures</a>,
      <a id="event-retries" href="docs/receiving#recover">retries</a>. Those marked as
      <a href="docs/receiving#extra-events">extra</a> are sent only where you name them.
    </p>
    <div id="event-names">
      ${table(
        ['Event', 'When'],
        Object.entries(document.webhooks).map(([name, { post }]) => [
          html`<a id="${name}" href="docs/${addresses.get(name) ?? ''}"><code>${name}</code></a>`,
          prose(`${post.summary}${post.description ? ' (extra)' : ''}.`),
        ]),
      )}
    </div>`;
}

const errors = html`<h2 id="errors">Error codes</h2>
  <p>
    Branch on <code>error.code</code>, never on the message. Retry only if
    <code>error.retryable</code> is true; the value in the response takes precedence over this
    table. <a href="docs/errors">Errors and idempotency</a> has the whole picture.
  </p>
  ${table(
    ['Code', 'HTTP', 'Retryable', 'Meaning', 'What to do'],
    ERROR_CODES.map((code) => [
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
