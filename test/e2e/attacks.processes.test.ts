// Each attack of test/attacks against a running mesh, beside a well-behaved partner that sends 20
// messages a second all the time: none of its requests fails. `make test-attacks` runs them longer,
// and also asserts the latency of two cores with nothing else to do.
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { startAttacker, type Attacker } from '../attacks/attacker';
import { ATTACK_TEMPLATES, ATTACKS } from '../attacks/attacks';
import type { Counts } from '../attacks/main';
import { sendSteadily, type Measured } from '../attacks/neighbour';
import { ONE, TWO_A } from '../harness/world';
import { podMemories } from '../testkit/resident-memory';
import type { ProcessPartner } from '../harness/process-mesh';
import { eventually } from '../testkit/eventually';
import { inboundBody, postRaw } from '../testkit/upstream-webhooks';
import { scopeOf } from './broadcast-support';
import { postMany } from './faults-support';
import { useReceivers } from './receivers';
import { useProcesses } from './use-processes';

const IS_LONG = process.env['BMG_ATTACKS'] === 'long';
const ATTACK_MS = IS_LONG ? 20_000 : 1_500;
/**
 * A mesh that has just started takes several times the CPU for a request. The long run measures a
 * mesh that has compiled the code of requests and events.
 */
const WARM_UP_EVENTS = IS_LONG ? 30_000 : 0;
const WARM_UP_SENDS = IS_LONG ? 12_000 : 20;
/** Calls of onboarding after its restart. */
const WARM_UP_CALLS = IS_LONG ? 3_000 : 20;
const WARM_UP_LIMIT_MS = 240_000;
const IN_FLIGHT = 16;
const SETTLED_MS = 2_000;
/**
 * On two cores with nothing else to do. In the short form, where the p99 is the slowest of thirty
 * sends, the median is compared with the sends without an attack.
 */
const P99_MAX_MS = 250;
const SLOWDOWN_MAX = 4;
/** Undelivered events of the hostile partner, for `retry-all`. */
const WAITING_EVENTS = IS_LONG ? 3_000 : 300;
/**
 * Events of the hostile partner in its log, of 2 KiB each: one answer holds as many as its size
 * allows.
 */
const LOGGED_EVENTS = 1_000;
const LOGGED_TEXT = 'x'.repeat(2_000);
/** More than all the buffers on the way to a client hold. */
const FILE_BYTES = 20_000_000;

/**
 * Messaging fetches 32 files of each server at a time: together more than the share of a partner.
 */
const SLOW_SERVERS = 8;

/** The processes that read large bodies or make large answers: they have the heap of their pods. */
const MEASURED = ['gateway', 'broadcasts', 'webhooks'] as const;
/** Node's rule if only the memory of the pod is limited. */
const HEAP_SHARE = 0.5;
/** Share of the pod's memory. */
const PEAK_SHARE_MAX = 0.9;

jest.setTimeout(ATTACK_MS + WARM_UP_LIMIT_MS);

const podMib = podMemories();

/** The most memory that the process has had, in MiB. */
const peakMib = (pid: number): number =>
  Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024;

const mesh = useProcesses(
  Object.fromEntries(
    MEASURED.map((name) => {
      const heap = Math.round(podMib(name) * HEAP_SHARE);
      return [name, { NODE_OPTIONS: `--max-old-space-size=${heap}` }];
    }),
  ),
);
const receivers = useReceivers();
let neighbour: ProcessPartner;
let hostile: ProcessPartner[];
let rotated_key: string;
/** The callback data of the neighbour's first sends. */
let callback_data: string[] = [];
let media_id: string;
let slow: Server[];
let attacker: Attacker;
let undisturbed: Measured;
const table: Record<string, object> = {};

beforeAll(async () => {
  attacker = startAttacker();
  await mesh.emulator.limits({ rate_per_sec: 'off' });
  await warmUp();
  neighbour = await mesh.createPartner((await receivers.add()).url);
  const { url: hostile_url } = await attacker.receiver();
  hostile = await Promise.all(
    [hostile_url, undefined, undefined].map((url) => mesh.createPartner(url)),
  );
  rotated_key = neighbour.partner_key;
  neighbour = await mesh.rotateKey(neighbour);
  await neighbour.register(ONE);
  for (const partner of hostile) await partner.register(TWO_A);
  // The largest broadcasts are refused without them after they are read, and not stored.
  for (const [name, variables] of Object.entries(IS_LONG ? ATTACK_TEMPLATES : {})) {
    const text = Array.from({ length: variables }, (_unused, at) => `{{${at + 1}}}`).join(' ');
    await mesh.emulator.template({
      waba_id: TWO_A.waba_id,
      name,
      components: [{ type: 'BODY', text }],
    });
  }
  const file = { phone_number_id: TWO_A.phone_number_id, size_bytes: FILE_BYTES };
  media_id = (await mesh.emulator.media(file)).id;
  slow = Array.from({ length: SLOW_SERVERS }, () =>
    createServer((_request, response) => void response.write('x')).listen(0, '127.0.0.1'),
  );
  await Promise.all(slow.map((server) => once(server, 'listening')));
  const since = new Date().toISOString();
  undisturbed = await besides(undefined, ATTACK_MS);
  const sent = await mesh.emulator.messages({ phone_number_id: ONE.phone_number_id, since });
  callback_data = sent
    .map((message) => String(message.biz_opaque_callback_data))
    .filter((data) => data.startsWith(`bmg1:${neighbour.partner_id}:`));
  expect(callback_data).not.toEqual([]);
}, WARM_UP_LIMIT_MS + 180_000);

afterAll(async () => {
  console.table(table);
  attacker?.close();
  // The next file starts it with the settings of all.
  await mesh.terminate('onboarding');
  for (const server of slow ?? []) {
    server.closeAllConnections();
    server.close();
  }
});

/** Passes events and sends of another partner through the mesh, until all of them are delivered. */
async function warmUp(): Promise<void> {
  let arrived = 0;
  const receiver = createServer((request, response) => {
    arrived += 1;
    request.resume();
    response.end();
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const partner = await mesh.createPartner(
    `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`,
  );
  await partner.register(ONE);
  await inParallel(WARM_UP_EVENTS / 10, async (body) => {
    const messages = Array.from({ length: 10 }, (_unused, at) => ({
      from: String(15_550_400_000 + ((10 * body + at) % 5_000)),
      id: `wamid.WARM.${body}.${at}`,
    }));
    await postRaw(mesh.ingress_url, inboundBody(ONE, ...messages));
  });
  await inParallel(WARM_UP_SENDS, async (at) => {
    const body = { to: String(15_550_500_000 + at), text: 'Hello' };
    await partner.call('POST', '/messages/send', body, scopeOf(ONE));
  });
  for (let before = -1; before < arrived; await sleep(SETTLED_MS)) before = arrived;
  await partner.call('DELETE', `/clients/${ONE.waba_id}`);
  receiver.closeAllConnections();
  receiver.close();
}

/** Posts events of the hostile partner, and waits until its receiver has answered them. */
async function postHostile(count: number, before: number, of: 'ATTACK' | 'LOGGED'): Promise<void> {
  const first = of === 'ATTACK' ? 15_550_200_000 : 15_550_300_000;
  await postMany(mesh.ingress_url, TWO_A, count, (at) => ({
    from: String(first + at),
    id: `wamid.${of}.${at}`,
    ...(of === 'LOGGED' && { text: LOGGED_TEXT }),
  }));
  await arrivalsReach(before + count);
}

/**
 * Waits for the events' arrival, and for their records: they are written after it, and are no
 * attack.
 */
async function arrivalsReach(count: number): Promise<void> {
  await eventually(async () => (await attacker.receiver()).arrivals >= count, WARM_UP_LIMIT_MS);
  await sleep(IS_LONG ? SETTLED_MS : 0);
}

/** Its API is not reached: the attack sends webhooks only. */
async function addProcessor(): Promise<void> {
  await mesh.terminate('onboarding');
  await mesh.start('onboarding', {
    PAYMENT_PROCESSOR: 'stripe',
    STRIPE_API_KEY: 'sk_test_attack',
    STRIPE_WEBHOOK_SECRET: 'whsec_attack',
    STRIPE_API_BASE: mesh.settings['INGRESS_URL'] as string,
  });
  await inParallel(WARM_UP_CALLS, async () => {
    await neighbour.call('GET', '/clients');
  });
}

async function inParallel(count: number, work: (at: number) => Promise<void>): Promise<void> {
  let next = 0;
  const repeat = async (): Promise<void> => {
    while (next < count) await work((next += 1));
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, repeat));
}

let contact = 15_550_600_000;
const send = () =>
  neighbour.call(
    'POST',
    '/messages/send',
    { to: String((contact += 1)), text: 'Hello' },
    scopeOf(ONE),
  );

/** The neighbour's messages that a status calls failed. */
const failedSends = async (): Promise<object[]> =>
  (await neighbour.call('GET', '/messages?status=failed')).body.messages;

interface Attacked extends Measured {
  /** The statuses that the attack got. */
  statuses: string[];
}

/** Runs the attack of this name, if any, and measures the neighbour's sends meanwhile. */
async function besides(attack: string | undefined, for_ms: number): Promise<Attacked> {
  const over = new AbortController();
  const [first = {}, ...others] = hostile.map(({ partner_key }) => ({
    'x-partner-key': partner_key,
    ...scopeOf(TWO_A),
  }));
  const target = {
    base_url: mesh.base_url,
    ingress_url: mesh.ingress_url,
    rotated_key,
    callback_data,
    number: TWO_A,
    media_id,
    slow_file_urls: slow.map(
      (server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/file.png`,
    ),
    headers: first,
    partners: [first, ...others],
  };
  const stop =
    attack === undefined ? async (): Promise<Counts> => ({}) : attacker.start(attack, target);
  const sending = sendSteadily(send, over.signal);
  await sleep(for_ms);
  over.abort();
  const [counts, measured] = await Promise.all([stop(), sending]);
  const { failures, ...figures } = measured;
  table[attack ?? 'no attack'] = {
    ...figures,
    failed: failures.length,
    'answers to the attack': Object.entries(counts)
      .map(([status, count]) => `${status}: ${count}`)
      .join(', '),
  };
  return { ...measured, statuses: Object.keys(counts) };
}

test.each(ATTACKS.map((attack) => [attack.name, attack] as const))(
  '%s: no request of another partner fails',
  async (_name, attack) => {
    // These are tried again and again.
    if (attack.needs_waiting_events) {
      await postHostile(WAITING_EVENTS, (await attacker.refuse()).arrivals, 'ATTACK');
    }
    if (attack.needs_log) {
      await postHostile(LOGGED_EVENTS, (await attacker.receiver()).arrivals, 'LOGGED');
    }
    if (attack.needs_processor) await addProcessor();
    const { sends, failures, p50_ms, p99_ms, statuses } = await besides(attack.name, ATTACK_MS);
    expect(failures).toEqual([]);
    expect(await failedSends()).toEqual([]);
    expect(sends).toBeGreaterThan(0);
    const p50_max_ms = SLOWDOWN_MAX * Math.max(P99_MAX_MS, undisturbed.p99_ms);
    if (!attack.fills_cores) {
      if (IS_LONG) expect(p99_ms).toBeLessThanOrEqual(P99_MAX_MS);
      else expect(p50_ms).toBeLessThanOrEqual(p50_max_ms);
    }
    if (attack.refused_only_with) {
      expect(statuses).toContain(attack.refused_with);
      expect(statuses.filter((status) => /^[45]/.test(status))).toEqual([attack.refused_with]);
    }
    if (!IS_LONG) return;
    // The attack has reached the bound that stops it.
    if (attack.refused_with) expect(statuses).toContain(attack.refused_with);
    expect(statuses.filter((status) => /^5/.test(status) && !/^50[23]$/.test(status))).toEqual([]);
  },
);

(existsSync('/proc/self/status') ? test.each(MEASURED) : test.skip.each(MEASURED))(
  'all attacks leave %s within the memory of its pod',
  (name) => {
    const [peak, pod] = [Math.round(peakMib(mesh.pid(name))), podMib(name)];
    table[`memory of ${name}`] = { 'answers to the attack': `${peak} of ${pod} MiB` };
    expect(peak).toBeLessThan(PEAK_SHARE_MAX * pod);
  },
);
