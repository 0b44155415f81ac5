// Stands between the upstream and the ingress: records every post with its answer, and which events
// it has to become.
import type { IncomingHttpHeaders } from 'node:http';
import { request } from 'undici';
import { startPartner } from '../testkit/partner';
import { signed } from '../testkit/upstream-webhooks';
import { eventKey, type WebhookPost } from './history';

const POST_LIMIT_MS = 20_000;

export type IngressRecorder = Awaited<ReturnType<typeof recordIngress>>;

interface Change {
  field?: string;
  value?: {
    metadata?: { phone_number_id?: string };
    messages?: Array<{ id: string }>;
    statuses?: Array<{ id: string; status: string }>;
  };
}

interface Body {
  entry?: Array<{ changes?: Change[] }>;
}

/** The events of a webhook's messages and statuses, by number. */
function eventsOf(text: string): Map<string, string[]> {
  const events = new Map<string, string[]>();
  const { entry = [] } = JSON.parse(text) as Body;
  for (const { field, value } of entry.flatMap(({ changes = [] }) => changes)) {
    if (field !== 'messages') continue;
    const number = value?.metadata?.phone_number_id ?? '';
    const found = events.get(number) ?? [];
    for (const { id } of value?.messages ?? []) found.push(eventKey('message.received', id));
    for (const { id, status } of value?.statuses ?? []) {
      found.push(eventKey(`message.${status}`, id));
    }
    if (found.length > 0) events.set(number, found);
  }
  return events;
}

/** Listens on 127.0.0.1 unless another address is given. */
export async function recordIngress(posts: WebhookPost[], now: () => number, host = '127.0.0.1') {
  let target = '';
  const forward = async (body: string, headers: IncomingHttpHeaders): Promise<number> => {
    const invoked_ms = now();
    const status = await request(target, {
      method: 'POST',
      body,
      headers,
      headersTimeout: POST_LIMIT_MS,
      bodyTimeout: POST_LIMIT_MS,
    }).then(
      async (answer) => {
        await answer.body.dump().catch(() => undefined);
        return answer.statusCode;
      },
      () => 0,
    );
    for (const [phone_number_id, events] of eventsOf(body)) {
      posts.push({ invoked_ms, completed_ms: now(), status, phone_number_id, events });
    }
    return status;
  };
  const upstream = await startPartner({ host });
  upstream.behave(async ({ raw, headers }, response) => {
    upstream.arrivals.length = 0;
    const { 'content-type': type, 'x-hub-signature-256': signature } = headers;
    const status = await forward(raw, { 'content-type': type, 'x-hub-signature-256': signature });
    if (status === 0) response.destroy();
    else response.writeHead(status).end();
  });
  return {
    /** Where the upstream posts. */
    url: upstream.url,
    /** Posts a body of the run itself; returns the status, 0 for no answer. */
    post: (body: string) => forward(body, signed(body)),
    /** Takes the URL of the ingress itself, or of a link to it. */
    forwardTo: (url: string) => void (target = url),
    close: () => upstream.close(),
  };
}
