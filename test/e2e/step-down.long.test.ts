// Sends while MongoDB's primary steps down, loses answers, or cannot replicate a write: a short
// absence fails no send, a longer one is retryable, and every accepted send is made once.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { callRest, ONE, START_LIMIT_MS, startMesh, type Answer, type Mesh } from '../harness/mesh';
import { startSteppingMongo, type SteppingMongo } from '../testkit/stepping-mongo';

/** The number may send 20 messages a second, also those that waited for a primary. */
const APART_MS = 250;

let mongo: SteppingMongo;
let mesh: Mesh;
let key: string;
beforeAll(async () => {
  mongo = await startSteppingMongo(process.env['MONGO_URL'] as string);
  mesh = await startMesh({ MONGO_URL: mongo.url });
  const partner = await mesh.createPartner();
  key = partner.partner_key;
  await partner.register(ONE);
}, START_LIMIT_MS);
afterAll(async () => {
  await mesh?.stop();
  await mongo?.close();
}, START_LIMIT_MS);

interface Sent {
  idempotency_key: string;
  answer: Answer;
}

const send = async (idempotency_key: string = randomUUID()): Promise<Sent> => ({
  idempotency_key,
  answer: await callRest(
    mesh.base_url,
    'POST',
    '/messages/send',
    { to: '15550100777', text: 'Hello' },
    { 'x-partner-key': key, 'x-waba-id': ONE.waba_id, 'Idempotency-Key': idempotency_key },
  ),
});

/** Sends at an even rate until the fault is over, and a second longer. */
async function sendDuring(fault: Promise<void>): Promise<Sent[]> {
  const sent: Promise<Sent>[] = [];
  let isOver = false;
  const over = fault.then(() => sleep(1_000)).then(() => (isOver = true));
  while (!isOver) {
    sent.push(send());
    await sleep(APART_MS);
  }
  await over;
  return Promise.all(sent);
}

/** What was refused is retryable, and succeeds later; the upstream has one message for each key. */
async function expectEachSentOnce(before: number, sent: readonly Sent[]): Promise<void> {
  for (const { idempotency_key, answer } of sent) {
    if (answer.status === 200) continue;
    const error = { code: 'SERVICE_UNAVAILABLE', retryable: true, details: null };
    expect(answer).toMatchObject({ status: 503, body: { error } });
    expect((await send(idempotency_key)).answer.status).toBe(200);
  }
  expect(await total()).toBe(before + sent.length);
}

const total = async (): Promise<number> => (await mesh.emulator.summary()).total;
const statuses = (sent: readonly Sent[]) => [...new Set(sent.map(({ answer }) => answer.status))];

test.each([false, true])(
  'a step-down of 2.5 seconds fails no send (connections are closed: %s)',
  async (cuts) => {
    const before = await total();
    const sent = await sendDuring(mongo.stepDown(2_500, { cuts }));
    expect(statuses(sent)).toEqual([200]);
    await expectEachSentOnce(before, sent);
  },
);

test('sends during a longer step-down are retryable, and none has an unknown outcome', async () => {
  const before = await total();
  const sent = await sendDuring(mongo.stepDown(9_000));
  expect(statuses(sent)).toContain(503);
  await expectEachSentOnce(before, sent);
});

test('writes whose answers are lost are made once', async () => {
  const before = await total();
  const repeated = mongo.repeated();
  const losses = async (): Promise<void> => {
    for (let count = 0; count < 10; count += 1) {
      mongo.loseAnswers(1);
      await sleep(400);
    }
  };
  const sent = await sendDuring(losses());
  expect(mongo.repeated()).toBeGreaterThan(repeated);
  await expectEachSentOnce(before, sent);
});

test('writes that reach only the primary, beside keys that are taken, are made once', async () => {
  const before = await total();
  const sent = [await send()];
  for (let count = 0; count < 20; count += 1) {
    mongo.failToReplicate(1);
    const [again, next] = await Promise.all([send(sent.at(-1)?.idempotency_key), send()]);
    expect([200, 503]).toContain(again.answer.status);
    sent.push(next);
  }
  mongo.replicateAgain();
  await expectEachSentOnce(before, sent);
});
