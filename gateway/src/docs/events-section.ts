// The part of the reference about events: how they are delivered, signed and retried, and every event
// with its fields.
import { fieldsOf } from './fields';
import { html, prose, table, type Html } from './html';
import type { Json, OpenApiDocument } from './types';

export function eventsSection(document: OpenApiDocument): Html {
  const events = Object.entries(document.webhooks);
  const parameters = (events[0]?.[1].post.parameters ?? []) as unknown as Header[];
  return html`<h2 id="events">Events</h2>
    <p>
      The service posts every event of your clients’ numbers to your webhook URL. Any 2xx within 10
      seconds means that you have it: verify, store, answer, and work afterwards. Redirects are not
      followed.
    </p>
    <h3 id="event-headers">Headers of a delivery</h3>
    ${table(
      ['Header', 'Description'],
      parameters.map(({ name, description }) => [html`<code>${name}</code>`, prose(description)]),
    )}
    <h3 id="event-signature">Signature</h3>
    <ul>
      <li>
        <code>x-service-signature</code> is <code>sha256=</code> and the hex HMAC-SHA256 over the
        exact bytes of the body. The key is the whole secret as text, prefix included.
      </li>
      <li>
        <code>webhook-signature</code> follows Standard Webhooks: HMAC-SHA256 over
        <code>webhook-id.webhook-timestamp.body</code>, keyed with the secret without its prefix,
        base64 decoded; <code>v1,</code> and base64. Refuse a <code>webhook-timestamp</code> more
        than 5 minutes from your clock.
      </li>
      <li>Verify before you parse the body, and compare in constant time.</li>
    </ul>
    <h3 id="event-retries">Retries</h3>
    <p>
      A refused event is sent again after 5 s, 30 s, 2 min, 10 min, 30 min, 1 h, 3 h, 6 h, 12 h and
      24 h, each with up to 20 % more or less. A <code>Retry-After</code> of up to an hour is
      honoured; 410 stops the retries. After the last attempt the event is <code>failed</code> and
      stays readable for 30 days: see <code>GET /webhooks/failed</code>. Every attempt has the same
      <code>webhook-id</code>: ignore an event that you already have. Events of one conversation
      arrive in order; a retry holds later ones for 30 seconds at most.
    </p>
    <h3 id="event-names">Event names</h3>
    <ul>
      ${events.map(
        ([name]) =>
          html`<li>
            <a href="#${name}"><code>${name}</code></a>
          </li> `,
      )}
    </ul>
    ${events.map(([name, { post }]) => section(document, name, post))}`;
}

interface Header {
  name: string;
  description: string;
}

type Post = OpenApiDocument['webhooks'][string]['post'];

function section(document: OpenApiDocument, name: string, { summary, requestBody }: Post): Html {
  const content = requestBody.content['application/json'];
  const rows = fieldsOf(document, (content?.schema ?? {}) as Json).filter(({ path }) =>
    path.startsWith('data.'),
  );
  return html`<section id="${name}">
    <h4><code>${name}</code></h4>
    <p>${summary}.</p>
    ${table(
      ['Field', 'Type', 'Description'],
      rows.map(({ path, type, text }) => [html`<code>${path}</code>`, type, prose(text)]),
    )}
    <pre tabindex="0">${JSON.stringify(content?.example, null, 2)}</pre>
  </section> `;
}
