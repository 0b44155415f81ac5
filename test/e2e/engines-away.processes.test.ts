// Stops each engine for some seconds under real processes: independent requests succeed, dependent
// ones get 503 with Retry-After in bounded time, and everything recovers without a restart. The
// table that this prints is the one in deploy/runbook.md. BMG_FAULTS=long takes 30 seconds for each
// engine.
import { setTimeout as sleep } from 'node:timers/promises';
import { runBmg } from '../testkit/bmg';
import { eventually } from '../testkit/eventually';
import { ONE } from '../harness/world';
import { callRest, type Answer } from '../testkit/rest';
import { inboundBody, postRaw } from '../testkit/upstream-webhooks';
import { useProcesses, useReceivingPartner } from './use-processes';

const LONG = process.env['BMG_FAULTS'] === 'long';
const AWAY_MS = LONG ? 30_000 : 5_000;
const RECOVERY_LIMIT_MS = 90_000;
/** Longer than any timeout of an engine call, and well below the deadline of a request. */
const ANSWER_LIMIT_MS = 15_000;
/** Well below the minute for which cached answers serve: after it, every request fails. */
const CACHED_LIMIT_MS = 40_000;
const SERVICES = [
  'gateway',
  'onboarding',
  'messaging',
  'templates',
  'broadcasts',
  'webhooks',
  'fanout',
] as const;

const mesh = useProcesses();
const partner = useReceivingPartner(mesh);
let count = 0;

const number = { 'x-waba-id': ONE.waba_id };
const text = { to: '15550100777', text: 'Hello' };

/** One request for each part of the mesh that an engine outage could affect. */
const REQUESTS: Record<string, () => Promise<Answer>> = {
  'POST /messages/send': () => partner.call('POST', '/messages/send', text, number),
  'POST /messages/send with Idempotency-Key': () =>
    partner.call('POST', '/messages/send', text, {
      ...number,
      'idempotency-key': `k${(count += 1)}`,
    }),
  'GET /profile': () => partner.call('GET', '/profile', undefined, number),
  'GET /templates': () => partner.call('GET', '/templates', undefined, number),
  'GET /clients': () => partner.call('GET', '/clients'),
  'GET /usage': () => partner.call('GET', '/usage'),
  'POST /connect/session': () => partner.call('POST', '/connect/session', {}),
  'GET /broadcasts': () => partner.call('GET', '/broadcasts', undefined, number),
  'GET /contacts/{phone}': () => partner.call('GET', '/contacts/15550100777', undefined, number),
  'GET /webhooks/failed': () => partner.call('GET', '/webhooks/failed'),
  'GET /health': () => callRest(mesh.base_url, 'GET', '/health'),
  'upstream webhook': async () => {
    const id = `wamid.AWAY.${(count += 1)}`;
    const status = await postRaw(mesh.ingress_url, inboundBody(ONE, { from: '15550100777', id }));
    return { status, headers: new Headers(), body: null };
  },
};

interface Seen {
  name: string;
  status: number;
  code: string | undefined;
  retry_after: string | null;
  ms: number;
}

const look = async (names = Object.keys(REQUESTS)): Promise<Seen[]> =>
  Promise.all(
    names.map(async (name) => {
      const started = performance.now();
      const answer = await (REQUESTS[name] as () => Promise<Answer>)();
      return {
        name,
        status: answer.status,
        code: answer.body?.error?.code,
        retry_after: answer.headers.get('retry-after'),
        ms: Math.round(performance.now() - started),
      };
    }),
  );

const works = ({ status }: Seen): boolean => status < 300;
const failing = (seen: Seen[]): string[] =>
  seen.filter((one) => !works(one)).map(({ name }) => name);

/** `fails`: the requests that fail without the engine once the caches have expired. */
async function without(engine: 'mongo' | 'kafka' | 'redis', fails: string[]): Promise<void> {
  await eventually(async () => failing(await look()).length === 0);
  const pids = SERVICES.map((name) => mesh.pid(name));
  const killed_at = performance.now();
  await mesh.killEngine(engine);
  try {
    const seen = await eventually(async () => {
      const now = await look();
      expect(failing(now).sort()).toEqual([...fails].sort());
      return now;
    }, CACHED_LIMIT_MS);
    for (const { name, status, code, retry_after, ms } of seen) {
      process.stdout.write(
        `  ${engine} away: ${name.padEnd(42)} ${status} ${code ?? ''} ${ms} ms\n`,
      );
      expect([name, ms < ANSWER_LIMIT_MS]).toEqual([name, true]);
      if (!fails.includes(name) || name === 'upstream webhook') continue;
      expect([name, status, code]).toEqual([name, 503, 'SERVICE_UNAVAILABLE']);
      expect([name, Number(retry_after) > 0]).toEqual([name, true]);
    }
    expect(await doctorSays(engine)).toBe(false);
    await sleep(Math.max(0, AWAY_MS - (performance.now() - killed_at)));
  } finally {
    // The tests after a failed one have their engines.
    await mesh.startEngine(engine);
  }
  const back_at = performance.now();
  await eventually(async () => failing(await look()).length === 0);
  const seconds = ((performance.now() - back_at) / 1_000).toFixed(1);
  process.stdout.write(`  ${engine} back: everything works after ${seconds} s\n`);
  expect(SERVICES.map((name) => mesh.pid(name))).toEqual(pids);
  expect(await doctorSays(engine)).toBe(true);
}

/** Returns what `bmg doctor` reports of the engine. */
async function doctorSays(engine: string): Promise<boolean | undefined> {
  const { ONBOARDING_ADDR, PUBLIC_URL } = mesh.settings;
  const { out } = await runBmg(['--json', 'doctor'], { ONBOARDING_ADDR, PUBLIC_URL });
  const { checks } = JSON.parse(out) as { checks: Array<{ name: string; ok: boolean }> };
  return checks.find(({ name }) => name === engine)?.ok;
}

test('refuses only requests with an Idempotency-Key while Redis is down', async () => {
  await without('redis', ['POST /messages/send with Idempotency-Key']);
});

test('refuses only the upstream’s webhooks while Kafka is down', async () => {
  await without('kafka', ['upstream webhook']);
  const kafka = async (): Promise<string> =>
    (await callRest(mesh.base_url, 'GET', '/health')).body.dependencies.kafka.status;
  await eventually(async () => (await kafka()) === 'ok');
});

test('serves cached partners’ upstream-only requests without a key while MongoDB is down', async () => {
  await without('mongo', [
    'POST /messages/send with Idempotency-Key',
    'GET /clients',
    'GET /usage',
    'POST /connect/session',
    'GET /broadcasts',
    'GET /contacts/{phone}',
    'GET /webhooks/failed',
  ]);
});

test('delivers the events received during the outages', async () => {
  await eventually(() => partner.receiver.of('message.received').length > 0);
  await mesh.expectCommitted(RECOVERY_LIMIT_MS);
});
