// A process is killed while a send with an Idempotency-Key is under way, and nobody is left to say what came
// of it.
import { randomUUID } from 'node:crypto';
import { eventually } from '../testkit/eventually';
import { ONE } from '../harness/world';
import { joinProcessMesh, type ProcessMesh, type ProcessPartner } from '../harness/process-mesh';
import { startPartner, type PartnerReceiver } from '../testkit/partner';
import { codeOf, HELLO, isReplay, UNKNOWN } from './idempotency-client';

const START_LIMIT_MS = 120_000;
const CRASH_LIMIT_MS = 120_000;
const LEARN_LIMIT_MS = 60_000;
/** Long enough to kill somebody meanwhile. */
const UPSTREAM_DELAY_MS = 1_500;

/** A short request limit lets the lease of the killed gateway's work end soon. */
const SHORT_REQUESTS = { REQUEST_TIMEOUT_MS: '4000' };

let mesh: ProcessMesh;
let receiver: PartnerReceiver;
let partner: ProcessPartner;

beforeAll(async () => {
  mesh = await joinProcessMesh();
  await mesh.terminate('gateway');
  await mesh.start('gateway', SHORT_REQUESTS);
  receiver = await startPartner();
  partner = await mesh.createPartner(receiver.url);
  await partner.register(ONE);
}, START_LIMIT_MS);
afterAll(async () => {
  await mesh?.terminate('gateway');
  await mesh?.stop();
  await receiver?.close();
}, START_LIMIT_MS);

const ask = (key: string) =>
  partner.call('POST', '/messages/send', HELLO, {
    'x-waba-id': ONE.waba_id,
    'idempotency-key': key,
  });
const arrived = async (): Promise<number> =>
  (await mesh.emulator.requests({ method: 'POST', path: '/messages$' })).length;

/** Begins a send under the key and waits until the upstream has it, not yet answered. */
async function underWay(key: string) {
  const seen = await arrived();
  await mesh.emulator.fault({
    match: { method: 'POST', path: '/messages$' },
    times: 1,
    delay_ms: UPSTREAM_DELAY_MS,
  });
  // In an object: a promise as such would be waited for here.
  const asked = { answer: ask(key).catch(() => undefined) };
  await eventually(async () => (await arrived()) > seen);
  return asked;
}

/** What a partner does that waits for an answer it can use. */
const learnt = (key: string) =>
  eventually(async () => {
    const answer = await ask(key).catch(() => undefined);
    return answer?.status === 200 && answer;
  }, LEARN_LIMIT_MS);

test(
  'messaging, before the upstream has done it: nobody can tell, so that it is not sent again',
  async () => {
    const key = randomUUID();
    const { total } = await mesh.emulator.summary();
    const { answer } = await underWay(key);
    await mesh.kill('messaging');
    expect((await answer)?.body.error).toMatchObject(UNKNOWN);
    expect((await ask(key)).body.error).toMatchObject(UNKNOWN);
    await mesh.start('messaging');
    expect((await ask(key)).body.error).toMatchObject(UNKNOWN);
    expect((await mesh.emulator.summary()).total).toBe(total);
  },
  CRASH_LIMIT_MS,
);

test(
  'messaging, after the upstream has done it: the message is known once its status arrives',
  async () => {
    const key = randomUUID();
    const { total } = await mesh.emulator.summary();
    await mesh.emulator.behaviour({ hold: true });
    await mesh.emulator.fault({
      match: { method: 'POST', path: '/messages$' },
      times: 1,
      drop: 'after',
    });
    expect((await ask(key)).body.error).toMatchObject(UNKNOWN);
    await mesh.kill('messaging');
    await mesh.emulator.behaviour({ hold: false });
    await mesh.emulator.releaseWebhooks();
    await mesh.start('messaging');
    const known = await learnt(key);
    const sent = (await mesh.emulator.messages()).at(-1);
    expect([known.body.message_id, isReplay(known)]).toEqual([sent?.id, true]);
    expect((await mesh.emulator.summary()).total).toBe(total + 1);
  },
  CRASH_LIMIT_MS,
);

test(
  'the gateway: the key is in use until the limit of the first request, then the send is known',
  async () => {
    const key = randomUUID();
    const { total } = await mesh.emulator.summary();
    const { answer } = await underWay(key);
    await mesh.kill('gateway');
    expect(await answer).toBeUndefined();
    await mesh.start('gateway', SHORT_REQUESTS);
    const early = await eventually(() => ask(key).catch(() => undefined));
    const first = early.status === 200 ? undefined : codeOf(early);
    expect([undefined, [409, 'IDEMPOTENCY_KEY_IN_USE']]).toContainEqual(first);
    const known = await learnt(key);
    const sent = (await mesh.emulator.messages()).at(-1);
    expect([known.body.message_id, isReplay(known)]).toEqual([sent?.id, true]);
    expect((await mesh.emulator.summary()).total).toBe(total + 1);
  },
  CRASH_LIMIT_MS,
);
