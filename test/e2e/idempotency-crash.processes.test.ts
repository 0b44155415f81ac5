// A process is killed while a send with an Idempotency-Key is in flight, so that its outcome is not
// recorded.
import { randomUUID } from 'node:crypto';
import { eventually } from '../testkit/eventually';
import { ONE } from '../harness/world';
import { codeOf, HELLO, isReplay, UNKNOWN } from './idempotency-client';
import { useProcesses, useReceivingPartner } from './use-processes';

/** Long enough to kill a process meanwhile. */
const UPSTREAM_DELAY_MS = 2_000;

/** A short request timeout, so that the lease of the killed gateway expires soon. */
const SHORT_REQUESTS = { REQUEST_TIMEOUT_MS: '4000' };

const mesh = useProcesses({ gateway: SHORT_REQUESTS });
const partner = useReceivingPartner(mesh);

const ask = (key: string) =>
  partner.call('POST', '/messages/send', HELLO, {
    'x-waba-id': ONE.waba_id,
    'idempotency-key': key,
  });
const arrived = async (): Promise<number> =>
  (await mesh.emulator.requests({ method: 'POST', path: '/messages$' })).length;

/** Starts a send with the key and waits until the upstream has received it but not answered. */
async function startSend(key: string) {
  const seen = await arrived();
  await mesh.emulator.fault({
    match: { method: 'POST', path: '/messages$' },
    times: 1,
    delay_ms: UPSTREAM_DELAY_MS,
  });
  // Wrapped in an object, because returning the promise itself would await it.
  const asked = { answer: ask(key).catch(() => undefined) };
  await eventually(async () => (await arrived()) > seen);
  return asked;
}

/** Repeats the request until the outcome is known, as a partner would. */
const learnt = (key: string) =>
  eventually(async () => {
    const answer = await ask(key).catch(() => undefined);
    return answer?.status === 200 && answer;
  });

test('keeps the outcome unknown and does not resend when messaging dies before the upstream acts', async () => {
  const key = randomUUID();
  const { total } = await mesh.emulator.summary();
  const { answer } = await startSend(key);
  await mesh.kill('messaging');
  expect((await answer)?.body.error).toMatchObject(UNKNOWN);
  expect((await ask(key)).body.error).toMatchObject(UNKNOWN);
  await mesh.start('messaging');
  expect((await ask(key)).body.error).toMatchObject(UNKNOWN);
  expect((await mesh.emulator.summary()).total).toBe(total);
});

test('learns the message from its status when messaging dies after the upstream acts', async () => {
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
});

test('holds the key until the first request times out when the gateway dies, then knows the send', async () => {
  const key = randomUUID();
  const { total } = await mesh.emulator.summary();
  const { answer } = await startSend(key);
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
});
