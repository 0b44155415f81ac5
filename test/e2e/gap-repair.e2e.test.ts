// Gap repair: statuses whose webhooks are lost, one by one and while the ingress is down, are read
// from the upstream's message history. Every message ends in its true state, and no status is
// reported twice. BMG_FAULTS=long keeps the ingress down for a minute.
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../testkit/eventually';
import { ONE, joinMesh } from '../harness/shared-mesh';
import { bodyOf, postRaw, statusChange } from '../testkit/upstream-webhooks';
import { useDatabases, useMesh, usePartner } from './use-mesh';

const MESSAGES = 200;
const LOST = 0.05;
const STATUSES = ['message.sent', 'message.delivered', 'message.read'];
const SETTINGS = { GAP_REPAIR_DELAY_MS: '3000', GAP_REPAIR_PER_MINUTE: '1000' };
const LONG = process.env['BMG_FAULTS'] === 'long';
/** In addition to the duration of the sends. */
const AWAY_MS = LONG ? 60_000 : 0;

jest.setTimeout(LONG ? 300_000 : 120_000);

const mesh = useMesh(() => joinMesh(SETTINGS, ['messaging']));
const partner = usePartner(mesh);
const db = useDatabases(mesh);

const send = async (index: number): Promise<string> => {
  const body = { to: `1555020${String(1_000 + index)}`, text: 'Hello' };
  const answer = await partner.call('POST', '/messages/send', body, { 'x-waba-id': ONE.waba_id });
  expect(answer.status).toBe(200);
  return answer.body.message_id as string;
};
const sendAll = async (from: number, count: number): Promise<string[]> => {
  const ids: string[] = [];
  for (let at = 0; at < count; at += 20) {
    const part = Array.from({ length: Math.min(20, count - at) }, (_, index) => from + at + index);
    ids.push(...(await Promise.all(part.map(send))));
  }
  return ids;
};
const told = (): string[] =>
  partner.receiver.arrivals
    .filter(({ body }) => STATUSES.includes(body.event))
    .map(({ body }) => `${body.data['message_id']} ${body.event}`);

test('every message ends in its true state, and no status is reported twice', async () => {
  await mesh.emulator.limits({ rate_per_sec: 'off' });
  // A refused webhook is lost at once, as after a week of refusals.
  await mesh.emulator.behaviour({ swallow: LOST, seed: 11, retry_delays_ms: [] });
  const ids = await sendAll(0, MESSAGES / 2);
  await mesh.stopService('webhooks');
  ids.push(...(await sendAll(MESSAGES / 2, MESSAGES / 2)));
  expect(await mesh.emulator.settled()).toBe(true);
  await sleep(AWAY_MS);
  await mesh.startService('webhooks');
  const lost = (await mesh.emulator.webhooks()).lost;
  expect(lost).toBeGreaterThan(MESSAGES / 2);

  // A lower status that was lost is not requested once the message is read.
  const isTold = (id: string): boolean => told().includes(`${id} message.read`);
  await eventually(() => ids.every(isTold));
  const repaired = partner.receiver.arrivals.filter(
    ({ body }) => body.data['source'] === 'reconciled',
  );
  expect(repaired.length).toBeGreaterThan(MESSAGES / 2);
  const records = db('messaging').collection('messages');
  await eventually(
    async () =>
      (await records.countDocuments({ message_id: { $in: ids }, status: 'read' })) === MESSAGES,
  );

  // The webhooks of repaired statuses come late, then one that was never reported.
  for (const { body } of repaired.slice(0, 5)) {
    const { message_id, status } = body.data as { message_id: string; status: string };
    const change = statusChange(ONE, message_id, status);
    expect(await postRaw(mesh.ingress_url, bodyOf(ONE, [change]))).toBe(200);
  }
  const last = bodyOf(ONE, [statusChange(ONE, 'wamid.last', 'read')]);
  expect(await postRaw(mesh.ingress_url, last)).toBe(200);
  await eventually(() => told().includes('wamid.last message.read'));
  expect(told()).toHaveLength(new Set(told()).size);
});
