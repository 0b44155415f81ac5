// The attacks on availability (deploy/THREATS.md). Each repeats what one hostile partner, or an
// anonymous client, can do, in a bounded number of concurrent requests, until it is stopped.
import { randomBytes, randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { CONNECT_TOKEN_PREFIX, createKey, PARTNER_KEY_PREFIX } from '@bmg/common/keys';
import { callRest, type Answer } from '../testkit/rest';
import { bodyOf, postRaw, statusChange, type Numbered } from '../testkit/upstream-webhooks';

export interface Target {
  base_url: string;
  ingress_url: string;
  /** The account and number of the hostile partners. */
  number: Numbered;
  /** Headers of the hostile partner, with a valid key and its account. */
  headers: Record<string, string>;
  /** All hostile partners, the first among them. */
  partners: Array<Record<string, string>>;
  /** A former key of the well-behaved partner. */
  rotated_key: string;
  /** The callback data of sends of the well-behaved partner. */
  callback_data: string[];
  /** A large file of the hostile partner's number. */
  media_id: string;
  /** Files whose servers hardly send them; of one server, few are fetched at a time. */
  slow_file_urls: string[];
}

export interface Attack {
  name: string;
  /** Requests in flight at a time. */
  concurrency: number;
  /** Requests a second; without a limit if absent. */
  per_sec?: number;
  /** Its bytes fill both cores: no answer may fail or take too much memory, but all take longer. */
  fills_cores?: boolean;
  /** The hostile partner's log holds megabytes of events, and thousands of them. */
  needs_log?: boolean;
  /** Onboarding has a payment processor. */
  needs_processor?: boolean;
  /** Thousands of the hostile partner's events wait for their next attempt. */
  needs_waiting_events?: boolean;
  /** The answer of the bound that stops it; absent if a short run does not reach the bound. */
  refused_with?: string;
  /** No other bound refuses any of it, and a short run reaches the bound too. */
  refused_only_with?: boolean;
  /** One request; returns the status it got. `count` grows with each. */
  once(target: Target, count: number): Promise<number>;
}

const MIB = 1024 * 1024;
/** Repeats an element until a body of this size is full. */
const filled = (element: string, bytes: number): string =>
  `${`${element},`.repeat(Math.floor(bytes / (element.length + 1)) - 1)}${element}`;

/**
 * Bodies are built when they are first sent: a process that only reads the names needs no memory
 * for them.
 */
function lazily<T, Given extends unknown[]>(make: (...given: Given) => T) {
  let made: T | undefined;
  return (...given: Given): T => (made ??= make(...given));
}

const faultyUsers = lazily(() => `{"users":[${filled('1', MIB - 1_024)}]}`);
const emptyContacts = lazily(
  () =>
    `{"name":"x","template_name":"x","template_language":"en","contacts":[${filled('{}', 15 * MIB)}]}`,
);
const webhook = lazily(() => new Uint8Array(Buffer.alloc(3 * MIB, 'x')));

/** Templates of the hostile partners' account, by the number of their variables. */
export const ATTACK_TEMPLATES = { attack_one: 1, attack_many: 36 };
const CONTACTS_MAX = 10_000;

/** A broadcast of the largest size, scheduled so that it is stored and not sent. */
const largestBroadcast = (
  template_name: keyof typeof ATTACK_TEMPLATES,
  value: (at: number) => string,
): string =>
  JSON.stringify({
    name: 'x',
    template_name,
    template_language: 'en_US',
    scheduled_at: new Date(Date.now() + 24 * 3_600_000),
    contacts: Array.from({ length: CONTACTS_MAX }, (_unused, at) => ({
      to: String(15_550_700_000 + at),
      params: Array.from({ length: ATTACK_TEMPLATES[template_name] }, () => value(at)),
    })),
  });

/** Legal and illegal ones of nearly 16 MiB. */
const largeBodies = lazily(() =>
  [
    largestBroadcast('attack_one', (at) => `${at}${'x'.repeat(1_550)}`),
    largestBroadcast('attack_many', (at) => `${at}${'x'.repeat(32)}`),
    emptyContacts(),
    largestBroadcast('attack_one', (at) => `${at}${'\u4e00'.repeat(510)}`),
    `{"contacts":${'['.repeat(15 * MIB)}`,
    // Not Latin: each of its characters takes two bytes in memory.
    largestBroadcast('attack_one', (at) => `\u4e00${at}${'x'.repeat(1_540)}`),
    `{"contacts":[${filled(JSON.stringify('x'.repeat(MIB - 1_024)), 15 * MIB)}]}`,
  ].map((text) => new Uint8Array(Buffer.from(text))),
);

async function postLarge({ base_url, partners }: Target, count: number): Promise<number> {
  const bodies = largeBodies();
  const answer = await fetch(`${base_url}/broadcasts`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...partners[count % partners.length] },
    body: bodies[count % bodies.length] as Uint8Array<ArrayBuffer>,
  });
  await answer.text();
  return answer.status;
}

const statusOf = async (answer: Promise<Answer>): Promise<number> => (await answer).status;

const call = (
  { base_url, headers }: Target,
  method: string,
  path: string,
  body?: unknown,
): Promise<number> => statusOf(callRest(base_url, method, path, body, headers));

const postWebhook = async (
  { ingress_url }: Target,
  headers: Record<string, string>,
): Promise<number> =>
  (await fetch(ingress_url, { method: 'POST', headers, body: webhook() })).status;

/** How long a slow client holds its request, unless it is refused before. */
const HELD_MS = 1_000;
/** The wait for an answer that is not read: longer than a refusal is delayed. */
const UNREAD_MS = 4_000;

/** The first line and the headers of a request. */
const headOf = (request: string, headers: Record<string, string>): string =>
  [
    `${request} HTTP/1.1`,
    'Host: x',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    '\r\n',
  ].join('\r\n');

/**
 * A client that sends this much of a request and reads only the beginning of the answer; returns
 * the status, or 0 without an answer.
 */
const hold = (base_url: string, beginning: string, held_ms = HELD_MS): Promise<number> =>
  new Promise((resolve) => {
    const { hostname, port } = new URL(base_url);
    const socket = connect(Number(port), hostname, () => socket.write(beginning));
    let status = 0;
    socket.once('data', (text) => {
      status = Number(String(text).split(' ')[1]);
      if (status === 200) socket.pause();
      else socket.destroy();
    });
    socket.on('error', () => undefined);
    socket.once('close', () => resolve(status));
    setTimeout(() => socket.destroy(), held_ms);
  });

const SLOW_PATHS = ['/dashboard/api/session', '/connect/events'];

/** A request with well-formed headers, but without a partner's key, whose body does not arrive. */
function postSlowly({ base_url }: Target, count: number): Promise<number> {
  const head = headOf(`POST ${SLOW_PATHS[count % SLOW_PATHS.length]}`, {
    Origin: new URL(base_url).origin,
    'x-connect-token': createKey(CONNECT_TOKEN_PREFIX),
    'Content-Type': 'application/json',
    'Content-Length': '1000',
  });
  return hold(base_url, `${head}{`);
}

const getAndHold = (
  { base_url, headers }: Target,
  path: string,
  held_ms = HELD_MS,
): Promise<number> =>
  hold(base_url, headOf(`GET ${new URL(base_url).pathname}${path}`, headers), held_ms);

/** Uploads a file that the service has to fetch from a slow server. */
function uploadSlowly(
  { base_url, headers, slow_file_urls: urls }: Target,
  count: number,
): Promise<number> {
  const body = JSON.stringify({ url: urls[count % urls.length], mime_type: 'image/png' });
  const head = headOf(`POST ${new URL(base_url).pathname}/media/upload`, {
    ...headers,
    'Content-Type': 'application/json',
    'Content-Length': String(body.length),
  });
  return hold(base_url, head + body);
}

/** Each is new, well formed, and looked up. */
function callWithUnknown(target: Target, count: number): Promise<number> {
  const { base_url } = target;
  const cookie = `bmg_session=${randomBytes(32).toString('base64url')}`;
  const key = { 'x-partner-key': createKey(PARTNER_KEY_PREFIX) };
  const token = { 'x-connect-token': createKey(CONNECT_TOKEN_PREFIX) };
  const { origin } = new URL(base_url);
  switch (count % 3) {
    case 0:
      return statusOf(callRest(base_url, 'GET', '/clients', undefined, key));
    case 1:
      return statusOf(
        callRest(base_url, 'POST', '/clients/register-from-code', { code: 'x' }, token),
      );
    default:
      return statusOf(callRest(origin, 'GET', '/dashboard/api/session', undefined, { cookie }));
  }
}

const withHeaders = (target: Target, headers: Record<string, string>): Target => ({
  ...target,
  headers: { ...target.headers, ...headers },
});

const TEXT = JSON.stringify({ to: '15550100779', text: 'Hello' });

const smallBroadcast = (): string =>
  JSON.stringify({
    name: 'x',
    template_name: 'hello_world',
    template_language: 'en_US',
    contacts: ['15550100779'],
    scheduled_at: new Date(Date.now() + 3_600_000),
  });

const FORGED_PER_BODY = 20;

/**
 * The upstream reports the statuses of the hostile partner's sends, which it made with its own
 * token and with the callback data of another partner's sends.
 */
function forgeStatuses(target: Target, count: number): Promise<number> {
  const { callback_data, number, ingress_url } = target;
  const changes = Array.from({ length: FORGED_PER_BODY }, (_unused, at) =>
    statusChange(number, `wamid.FORGED.${count}.${at}`, at % 2 === 0 ? 'failed' : 'read', {
      biz_opaque_callback_data: callback_data[(count + at) % callback_data.length],
      pricing: { billable: true, category: 'marketing', pricing_model: 'PMP', type: 'regular' },
    }),
  );
  return postRaw(ingress_url, bodyOf(number, changes));
}

/** The form of the processor's signature, of the present time. */
const postPayment = async ({ ingress_url }: Target): Promise<number> => {
  const signature = `t=${Math.floor(Date.now() / 1_000)},v1=${'0'.repeat(64)}`;
  const address = new URL('/webhooks/payments', ingress_url);
  const headers = { 'stripe-signature': signature };
  return (await fetch(address, { method: 'POST', headers, body: '{}' })).status;
};

/** The ids of a thousand events of the hostile partner's log. */
const loggedEvents = lazily(async ({ base_url, headers }: Target): Promise<string[]> => {
  const { body } = await callRest(base_url, 'GET', '/events?limit=1000', undefined, headers);
  return (body.events as Array<{ event_id: string }>).map(({ event_id }) => event_id);
});

/** The cookie of the hostile partner's session in the console. */
const consoleCookie = lazily(async ({ base_url, headers }: Target): Promise<string> => {
  const { origin } = new URL(base_url);
  const partner_key = headers['x-partner-key'];
  const path = '/dashboard/api/session';
  const answer = await callRest(origin, 'POST', path, { partner_key }, { origin });
  return String(answer.headers.get('set-cookie')).split(';')[0] as string;
});

/** The console's list of events, from the beginning of the log. */
async function followConsole(target: Target): Promise<number> {
  const headers = { Cookie: await consoleCookie(target) };
  const head = headOf('GET /dashboard/api/events/stream?after=0', headers);
  return hold(target.base_url, head, UNREAD_MS);
}

export const ATTACKS: Attack[] = [
  {
    name: 'bodies with a million faults',
    concurrency: 4,
    refused_with: '400',
    once: (target) => call(target, 'POST', '/blocked', faultyUsers()),
  },
  {
    name: 'broadcasts of millions of empty contacts',
    concurrency: 2,
    refused_with: '403',
    once: (target) => call(target, 'POST', '/broadcasts', emptyContacts()),
  },
  {
    name: 'the largest bodies, of several partners',
    concurrency: 12,
    fills_cores: true,
    refused_with: '503',
    once: postLarge,
  },
  {
    name: 'unknown keys, tokens and cookies',
    concurrency: 16,
    refused_with: '429',
    once: callWithUnknown,
  },
  {
    name: 'slow bodies without a key',
    concurrency: 300,
    refused_with: '503',
    once: postSlowly,
  },
  {
    name: 'a rotated key of the neighbour',
    concurrency: 16,
    refused_with: '401',
    once: (target) =>
      call(withHeaders(target, { 'x-partner-key': target.rotated_key }), 'GET', '/clients'),
  },
  {
    name: 'lists outside the rate limit',
    concurrency: 40,
    refused_with: '429',
    once: (target) => call(target, 'GET', '/flows'),
  },
  {
    name: 'downloads that are not read',
    concurrency: 32,
    refused_with: '503',
    once: (target) => getAndHold(target, `/media/${target.media_id}`),
  },
  {
    // No event has this name, so each request waits.
    name: 'waits for events',
    concurrency: 64,
    refused_with: '429',
    once: (target) => getAndHold(target, '/events?wait=20&event=template.quality_updated'),
  },
  {
    // 2 MiB each, and fewer a second than the partner's rate limit: the bytes that no socket has
    // taken are what ends it, long before the pool of reads is full.
    name: 'answers that are not read',
    concurrency: 600,
    per_sec: 50,
    needs_log: true,
    refused_with: '503',
    refused_only_with: true,
    once: (target) => getAndHold(target, '/events?after=0&limit=1000', UNREAD_MS),
  },
  {
    // What a page could hold is reserved before it is read, and that bound is reached first.
    name: 'filters of the log that match nothing',
    concurrency: 64,
    refused_with: '503',
    once: (target) => call(target, 'GET', '/events?after=0&limit=1000&event=template.rejected'),
  },
  {
    name: 'searches of messages that match nothing',
    concurrency: 64,
    refused_with: '429',
    once: (target) => call(target, 'GET', '/messages?category=none'),
  },
  {
    name: 'streams of the console that are not read',
    concurrency: 32,
    refused_with: '429',
    once: followConsole,
  },
  {
    // More than a partner's share of the files in transfer.
    name: 'uploads from a server that hardly sends',
    concurrency: 160,
    refused_with: '503',
    once: uploadSlowly,
  },
  {
    name: 'connect sessions',
    concurrency: 8,
    once: (target) => call(target, 'POST', '/connect/session', {}),
  },
  {
    name: 'small broadcasts',
    concurrency: 8,
    once: (target) => call(target, 'POST', '/broadcasts', smallBroadcast()),
  },
  {
    name: 'a new Idempotency-Key each time',
    concurrency: 8,
    once: (target) =>
      call(
        withHeaders(target, { 'idempotency-key': randomUUID() }),
        'POST',
        '/messages/send',
        TEXT,
      ),
  },
  {
    name: 'webhooks without a signature',
    concurrency: 4,
    refused_with: '401',
    once: (target) => postWebhook(target, {}),
  },
  {
    name: 'webhooks with a wrong signature',
    concurrency: 4,
    refused_with: '401',
    once: (target) => postWebhook(target, { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` }),
  },
  {
    name: 'statuses that name the sends of another',
    concurrency: 4,
    per_sec: 20,
    once: forgeStatuses,
  },
  {
    // Near the end, because its events are retried for as long as the mesh runs.
    name: 'retry-all in a loop',
    concurrency: 8,
    needs_waiting_events: true,
    once: (target) => call(target, 'POST', '/webhooks/retry-all'),
  },
  {
    // After the attack above: the receiver refuses its events, so that a replay runs for half a
    // minute.
    name: 'replays of a thousand events',
    concurrency: 16,
    refused_with: '429',
    once: async (target) =>
      call(target, 'POST', '/events/replay', { event_ids: await loggedEvents(target) }),
  },
  {
    // Comes last: onboarding is restarted before it.
    name: 'payment webhooks with a wrong signature',
    concurrency: 32,
    needs_processor: true,
    refused_with: '429',
    once: postPayment,
  },
];

/** Repeats the attack until the signal is aborted; returns how often each status was answered. */
export async function runAttack(
  { concurrency, per_sec, once }: Attack,
  target: Target,
  signal: AbortSignal,
): Promise<Map<string, number>> {
  const seen = new Map<string, number>();
  const began = performance.now();
  // One listener for all waiting requests: hundreds of them would each add their own to the signal.
  const over = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
  let count = 0;
  const turn = async (): Promise<void> => {
    if (per_sec === undefined) return;
    const wait_ms = began + (count * 1_000) / per_sec - performance.now();
    await Promise.race([over, sleep(Math.max(0, wait_ms), undefined, { ref: false })]);
  };
  const repeat = async (): Promise<void> => {
    while (!signal.aborted) {
      count += 1;
      await turn();
      if (signal.aborted) return;
      const status = String(await once(target, count).catch(() => 'reset'));
      seen.set(status, (seen.get(status) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, repeat));
  return seen;
}
