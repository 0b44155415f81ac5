// The traffic of a run: callers, customers and operators that continue through all faults, each
// with a separate random generator from the seed. Every operation is recorded with its outcome.
import { setTimeout as sleep } from 'node:timers/promises';
import { ownCall } from '@bmg/common/rpc';
import { unsampled } from '@bmg/common/telemetry';
import { seededRandom, type Random } from '../emulator/random';
import { inboundBody } from '../testkit/upstream-webhooks';
import { ask, describeAnswer, outcomeOf, type Asked } from './ask';
import {
  eventKey,
  type Change,
  type LogEntry,
  type Outcome,
  type Send,
  type StatusRead,
} from './history';
import { between, pick } from './schedule';
import type { Scene, StagePartner } from './stage';

/** In every text that is sent: it must not be in any log. */
export const TEXT = 'Zebra crossing at midnight';

const SEND_EVERY_MS = [300, 900] as const;
const KEYED_EVERY_MS = [400, 1_200] as const;
const KEYED_LIMIT_MS = 30_000;
const KEYED_AGAIN_MS = [300, 1_500] as const;
const KEYED_TWICE = 0.2;
const CONVERSATIONS = 10;
const CUSTOMER_EVERY_MS = [400, 2_500] as const;
const POST_AGAIN_MS = 300;
const POSTS_MAX = 10_000;
const BROADCAST_EVERY_MS = [4_000, 15_000] as const;
const CONTACTS = [30, 120] as const;
const LEAVE_EVERY_MS = [2_000, 8_000] as const;
const ROTATE_EVERY_MS = [5_000, 15_000] as const;
/** The rest of the rotations replace the webhook secret. */
const KEY_SHARE = 0.7;
const READ_EVERY_MS = [150, 600] as const;
const STATUS_OF_LAST = 60;
const LOG_PAGE = 200;
const LOG_AGAIN_MS = 300;
const RPC_LIMIT_MS = 15_000;

export interface Traffic {
  sends: Send[];
  changes: Change[];
  status_reads: StatusRead[];
  conversations: string[][];
  /** The contacts of each, by its name. */
  broadcasts: Map<string, string[]>;
  live_logs: Map<string, LogEntry[]>;
  reads: number;
  /** Ends when every operation has completed. */
  stop(): Promise<void>;
}

export function startTraffic(stage: Scene, seed: number): Traffic {
  const traffic: Traffic = {
    sends: [],
    changes: [],
    status_reads: [],
    conversations: [],
    broadcasts: new Map(),
    live_logs: new Map(),
    reads: 0,
    async stop() {
      play.stopping = true;
      await Promise.all(workers);
    },
  };
  const play: Play = { stage, traffic, stopping: false };
  const partner = (name: string): StagePartner =>
    stage.partners.find((one) => one.name === name) as StagePartner;
  const rows: Array<(random: Random) => Promise<void>> = [
    (random) => sendPlainly(play, partner('steady'), random),
    (random) => sendPlainly(play, partner('puller'), random),
    (random) => sendUnderKeys(play, partner('steady'), random),
    (random) => leaveAndReturn(play, partner('leaving'), random),
    (random) => rotate(play, partner('rotating'), random),
    (random) => broadcast(play, partner('broadcaster'), random),
    (random) => readAround(play, partner('steady'), random),
    ...['steady', 'puller', 'faulty', 'broadcaster'].map(
      (name) => () => readLog(play, partner(name)),
    ),
    ...Array.from({ length: CONVERSATIONS }, (_unused, index) => (random: Random) => {
      const number = partner(index % 3 === 0 ? 'puller' : 'steady').number;
      return converse(play, { number, index, random });
    }),
  ];
  const workers = rows.map((work, index) => work(seededRandom(seed * 1_000 + index)));
  return traffic;
}

interface Play {
  stage: Scene;
  traffic: Traffic;
  stopping: boolean;
}

let recipients = 0;
/** A recipient for one send, so that the upstream's log shows how often it was sent. */
const nextRecipient = (): string => String(15_560_000_000 + (recipients += 1));

const scopeOf = ({ number }: StagePartner): Record<string, string> => ({
  'x-waba-id': number.waba_id,
  'x-phone-number-id': number.phone_number_id,
});

interface SendOptions {
  to?: string;
  key?: string;
  /** Instead of the partner's present key. */
  partner_key?: string;
}

async function send(
  { stage, traffic }: Play,
  partner: StagePartner,
  { to = nextRecipient(), key, partner_key = partner.key }: SendOptions = {},
): Promise<Asked | undefined> {
  const invoked_ms = stage.now();
  const with_old_key = partner_key !== partner.key;
  const answer = await ask(stage.mesh.base_url, partner_key, {
    method: 'POST',
    path: '/messages/send',
    body: { to, text: `${TEXT} ${to}` },
    headers: { ...scopeOf(partner), ...(key !== undefined && { 'idempotency-key': key }) },
  });
  traffic.sends.push({
    invoked_ms,
    completed_ms: stage.now(),
    outcome: outcomeOf(answer),
    partner: partner.name,
    to,
    key: key ?? null,
    message_id: answer?.status === 200 ? (answer.body.message_id as string) : null,
    answer: describeAnswer(answer),
    with_old_key,
  });
  return answer;
}

async function sendPlainly(play: Play, partner: StagePartner, random: Random): Promise<void> {
  const open: Promise<unknown>[] = [];
  while (!play.stopping) {
    // Not awaited: a caller does not wait for the answers of others.
    open.push(send(play, partner));
    await sleep(between(random, SEND_EVERY_MS));
  }
  await Promise.all(open);
}

async function sendUnderKeys(play: Play, partner: StagePartner, random: Random): Promise<void> {
  const open: Promise<unknown>[] = [];
  for (let count = 0; !play.stopping; count += 1) {
    const to = nextRecipient();
    const key = `chaos-${count}`;
    const again_ms = between(random, KEYED_AGAIN_MS);
    const isTwice = random() < KEYED_TWICE;
    for (let time = 0; time < (isTwice ? 2 : 1); time += 1) {
      open.push(untilDefinite(play, again_ms, () => send(play, partner, { to, key })));
    }
    await sleep(between(random, KEYED_EVERY_MS));
  }
  await Promise.all(open);
}

/** Repeats a request under its key, as a partner would, until the answer is definite. */
async function untilDefinite(
  { stage }: Play,
  again_ms: number,
  request: () => Promise<Asked | undefined>,
): Promise<void> {
  const until = stage.now() + KEYED_LIMIT_MS;
  while (stage.now() < until) {
    const answer = await request();
    if (outcomeOf(answer) === 'ok') return;
    const isFinal = answer?.body?.error?.retryable === false;
    if (isFinal && answer.status < 500) return;
    await sleep(again_ms);
  }
}

/** Customers write: each webhook is posted until the answer is 200, as the upstream does. */
async function converse(
  play: Play,
  { number, index, random }: { number: StagePartner['number']; index: number; random: Random },
): Promise<void> {
  const { stage, traffic } = play;
  const ids: string[] = [];
  traffic.conversations.push(ids);
  const from = String(15_550_300_000 + index);
  for (let count = 0; !play.stopping; count += 1) {
    const id = `wamid.C${index}.${count}`;
    const body = inboundBody(number, { from, id, text: `${TEXT} ${id}` });
    for (let time = 0; time < POSTS_MAX; time += 1) {
      if ((await stage.ingress.post(body)) === 200) break;
      await sleep(POST_AGAIN_MS);
    }
    ids.push(id);
    await sleep(between(random, CUSTOMER_EVERY_MS));
  }
}

async function change(
  { stage, traffic }: Play,
  partner: StagePartner,
  kind: Change['kind'],
  act: () => Promise<Outcome>,
): Promise<Outcome> {
  const invoked_ms = stage.now();
  const outcome = await act();
  const completed_ms = stage.now();
  traffic.changes.push({ invoked_ms, completed_ms, outcome, partner: partner.name, kind });
  return outcome;
}

/** Registers, sends, deletes its client, and sends again, which must be refused. */
async function leaveAndReturn(play: Play, partner: StagePartner, random: Random): Promise<void> {
  const { stage } = play;
  const request = async (method: string, path: string, body?: unknown): Promise<Outcome> =>
    outcomeOf(await ask(stage.mesh.base_url, partner.key, { method, path, body }));
  const { waba_id } = partner.number;
  while (!play.stopping) {
    await Promise.all([send(play, partner), send(play, partner)]);
    await sleep(between(random, LEAVE_EVERY_MS));
    const deleted = await change(play, partner, 'delete', () =>
      request('DELETE', `/clients/${waba_id}`),
    );
    const afterwards = between(random, [1, 4]);
    for (let time = 0; time < afterwards && deleted === 'ok'; time += 1) await send(play, partner);
    await change(play, partner, 'register', () =>
      request('POST', '/clients/register', partner.number),
    );
  }
}

/**
 * Replaces the partner's key or webhook secret, and sends with the old key, which must be refused.
 */
async function rotate(play: Play, partner: StagePartner, random: Random): Promise<void> {
  const { operator } = play.stage;
  const { partner_id } = partner;
  const call = () => ownCall(unsampled(), RPC_LIMIT_MS);
  const newSecret = async (): Promise<Outcome> => {
    const given = { partner_id, overlap_hours: 1 };
    partner.secrets.push((await operator.rotateWebhookSecret(given, call())).webhook_secret);
    return 'ok';
  };
  const newKey = async (): Promise<Outcome> => {
    const given = { partner_id, overlap_hours: undefined };
    partner.key = (await operator.rotateKey(given, call())).partner_key;
    partner.keys.push(partner.key);
    return 'ok';
  };
  const rotation = (kind: Change['kind'], act: () => Promise<Outcome>): Promise<Outcome> =>
    change(play, partner, kind, () => act().catch(() => 'info'));
  while (!play.stopping) {
    await sleep(between(random, ROTATE_EVERY_MS));
    if (random() > KEY_SHARE) {
      await rotation('rotate-secret', newSecret);
      continue;
    }
    const old = partner.key;
    // Unknown: which key is valid shows only with the next rotation.
    if ((await rotation('rotate-key', newKey)) !== 'ok') continue;
    for (const partner_key of [old, partner.key, old]) await send(play, partner, { partner_key });
  }
}

async function broadcast(play: Play, partner: StagePartner, random: Random): Promise<void> {
  const { stage, traffic } = play;
  for (let count = 0; !play.stopping; count += 1) {
    const contacts = Array.from({ length: between(random, CONTACTS) }, nextRecipient);
    const name = `chaos-${count}`;
    const again_ms = between(random, KEYED_AGAIN_MS);
    const pause_ms = between(random, BROADCAST_EVERY_MS);
    traffic.broadcasts.set(name, contacts);
    await untilDefinite(play, again_ms, () =>
      ask(stage.mesh.base_url, partner.key, {
        method: 'POST',
        path: '/broadcasts',
        body: { name, template_name: 'hello_world', template_language: 'en_US', contacts },
        headers: { ...scopeOf(partner), 'idempotency-key': name },
      }),
    );
    await sleep(pause_ms);
  }
}

/** Reads lists, timelines and the ledger; the status of a message may never go back. */
async function readAround(play: Play, partner: StagePartner, random: Random): Promise<void> {
  const { stage, traffic } = play;
  const get = (path: string): Promise<Asked | undefined> =>
    ask(stage.mesh.base_url, partner.key, { method: 'GET', path });
  const LISTS = ['/clients', '/broadcasts', '/webhooks/failed', '/usage', '/usage/ledger?limit=5'];
  while (!play.stopping) {
    await sleep(between(random, READ_EVERY_MS));
    const [drawn, place, list] = [random(), random(), pick(random, LISTS)];
    traffic.reads += 1;
    const sent = traffic.sends.filter((one) => one.partner === partner.name && one.message_id);
    const message_id = sent.at(-1 - Math.floor(place * STATUS_OF_LAST))?.message_id;
    if (drawn < 0.3 || !message_id) {
      await get(list);
      continue;
    }
    const invoked_ms = stage.now();
    const id = encodeURIComponent(message_id);
    const answer = await get(
      drawn < 0.6 ? `/messages/${id}/timeline` : `/messages?message_id=${id}`,
    );
    const found = answer?.body?.message ?? answer?.body?.messages?.[0];
    if (outcomeOf(answer) !== 'ok' || typeof found?.status !== 'string') continue;
    traffic.status_reads.push({
      invoked_ms,
      completed_ms: stage.now(),
      message_id,
      status: found.status as string,
    });
  }
}

interface Page {
  events: Array<{
    seq: number;
    event_id: string;
    envelope: { event: string; waba_id: string | null; data: Record<string, unknown> };
  }>;
  next: number;
  has_more: boolean;
}

/** One page of a partner's event log; undefined when the read failed. */
export async function readPage(
  base_url: string,
  partner: StagePartner,
  { after, wait }: { after: number; wait: number },
): Promise<{ entries: LogEntry[]; next: number; has_more: boolean } | undefined> {
  const query = `after=${after}&limit=${LOG_PAGE}&wait=${wait}`;
  const answer = await ask(base_url, partner.key, { method: 'GET', path: `/events?${query}` });
  if (answer?.status !== 200) return undefined;
  const { events, next, has_more } = answer.body as Page;
  const entries = events.map(({ seq, event_id, envelope }) => ({
    seq,
    event_id,
    event: eventKey(envelope.event, envelope.data['message_id']),
    waba_id: envelope.waba_id,
  }));
  return { entries, next, has_more };
}

/** A program that reads the log and stores each page with the position behind it. */
async function readLog(play: Play, partner: StagePartner): Promise<void> {
  const { stage, traffic } = play;
  const stored: LogEntry[] = [];
  traffic.live_logs.set(partner.name, stored);
  let after = 0;
  while (!play.stopping) {
    const page = await readPage(stage.mesh.base_url, partner, { after, wait: 2 });
    if (!page) {
      await sleep(LOG_AGAIN_MS);
      continue;
    }
    stored.push(...page.entries);
    after = page.next;
  }
}
