// Unexpected input from the upstream: no process crashes, other events in the same webhook are
// delivered, and unreadable input is kept with its reason.
import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { Kafka, logLevel } from 'kafkajs';
import { eventually } from '../testkit/eventually';
import { ONE } from '../harness/shared-mesh';
import { bodyOf, inboundBody, messagesChange, postRaw } from '../testkit/upstream-webhooks';
import { arrivalOf, idOf, inboundTo, messagesAt, nextId, untilHas } from './receivers';
import { useMesh, usePartner } from './use-mesh';

const MIB = 1024 * 1024;

const mesh = useMesh();
const partner = usePartner(mesh);
const dead: string[] = [];
let stopReading: () => Promise<void>;

beforeAll(async () => {
  stopReading = await readDeadLetters();
});
afterAll(() => stopReading());

async function readDeadLetters(): Promise<() => Promise<void>> {
  const brokers = String(mesh.env['KAFKA_BROKERS']).split(',');
  const kafka = new Kafka({ brokers, logLevel: logLevel.NOTHING });
  const groupId = randomBytes(6).toString('hex');
  const consumer = kafka.consumer({ groupId, maxWaitTimeInMs: 200 });
  await consumer.connect();
  const topic = `${mesh.env['KAFKA_TOPIC_PREFIX']}upstream-webhook.v2.dlq`;
  await consumer.subscribe({ topics: [topic], fromBeginning: true });
  await consumer.run({
    eachMessage: async ({ message }) => {
      dead.push(String(message.headers?.['reason']));
    },
  });
  return () => consumer.disconnect();
}

const inbound = inboundTo(mesh);
const post = (body: string | Buffer) => postRaw(mesh.ingress_url, body);
/** Checks that the partition of the number is not blocked. */
const stillMoves = async () => untilHas(partner.receiver, await inbound({ from: '15550100701' }));

describe('the webhook endpoint', () => {
  test('echoes the challenge for the right verify token and answers 403 for a wrong one', async () => {
    const ask = async (token: string) => {
      const url = `${mesh.ingress_url}?hub.mode=subscribe&hub.verify_token=${token}&hub.challenge=123`;
      const answer = await fetch(url);
      return [answer.status, await answer.text()];
    };
    expect(await ask('verify-local')).toEqual([200, '123']);
    expect((await ask('wrong'))[0]).toBe(403);
  });

  test.each(['//', '/webhooks/upstreamx', 'http://[', '/%'])(
    'survives a request for %s',
    async (path) => {
      const { hostname, port } = new URL(mesh.ingress_url);
      const status = await new Promise<number>((resolve, reject) => {
        request({ hostname, port, path, method: 'POST' }, (answer) => {
          answer.resume();
          resolve(answer.statusCode ?? 0);
        })
          .on('error', reject)
          .end('{}');
      });
      expect(status).toBe(404);
      await stillMoves();
    },
  );
});

describe('a correctly signed body', () => {
  const nested = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
  test.each([
    ['not JSON', '{"object":', 'not_json'],
    [
      'nested too deeply',
      `{"object":"whatsapp_business_account","entry":${nested}}`,
      'nested_too_deep',
    ],
    ['of another object', '{"object":"page","entry":[]}', 'wrong_object'],
  ])('that is %s is kept with its reason', async (_case, body, reason) => {
    const before = dead.length;
    expect(await post(body)).toBe(200);
    await eventually(() => dead.slice(before).includes(reason));
    await stillMoves();
  });

  test('with unreadable parts still delivers the others', async () => {
    const [first, second] = [nextId(), nextId()];
    const broken = { field: 'messages', value: 'text' };
    const withoutId = messagesChange(ONE, [{ from: '15550100702', id: '' }]);
    delete (withoutId.value.messages[0] as { id?: string }).id;
    const before = dead.length;
    const changes = [
      messagesChange(ONE, [{ from: '15550100702', id: first }]),
      broken,
      null,
      withoutId,
      messagesChange(ONE, [{ from: '15550100702', id: second }]),
    ];
    expect(await post(bodyOf(ONE, changes))).toBe(200);
    await untilHas(partner.receiver, [first, second]);
    await eventually(() => dead.length >= before + 2);
  });

  test('about an unregistered number gets 200 and is not delivered', async () => {
    const stranger = { ...ONE, waba_id: '999999999999999', phone_number_id: '899999999999999' };
    const message = { from: '15550100704', id: 'wamid.STRANGER' };
    expect(await post(inboundBody(stranger, message))).toBe(200);
    await stillMoves();
    expect(partner.receiver.arrivals.map(idOf)).not.toContain('wamid.STRANGER');
  });

  test('of 3 MB with a thousand messages arrives whole, in order', async () => {
    const ids = Array.from({ length: 1_000 }, nextId);
    const messages = ids.map((id) => ({ from: '15550100705', id, text: 'x'.repeat(2_900) }));
    const body = inboundBody(ONE, ...messages);
    expect(body.length).toBeGreaterThan(3_000_000);
    expect(await post(body)).toBe(200);
    const mine = () => messagesAt(partner.receiver).filter((id) => ids.includes(id));
    await eventually(() => mine().length >= ids.length);
    expect(mine()).toEqual(ids);
  });

  test('with one message of 3 MB arrives, although its event holds the text twice', async () => {
    const [id] = await inbound({ from: '15550100706', text: 'y'.repeat(3 * MIB) });
    const { body } = await arrivalOf(partner.receiver, id);
    expect(body.data['text']).toHaveLength(3 * MIB);
    await stillMoves();
  });

  test('with a message above the topic’s size limit keeps it aside and delivers the others', async () => {
    const [before, large, after] = [nextId(), nextId(), nextId()];
    // Each invalid byte becomes three bytes, and the event holds the text twice.
    const messages = [before, large, after].map((id) => ({
      from: '15550100707',
      id,
      text: id === large ? '~'.repeat(3 * MIB) : 'Hello',
    }));
    const body = Buffer.from(inboundBody(ONE, ...messages), 'latin1');
    for (let at = 0; at < body.length; at += 1) if (body[at] === 0x7e) body[at] = 0xff;
    expect(await post(body)).toBe(200);
    await untilHas(partner.receiver, [before, after]);
    await eventually(() => dead.includes('too_large'));
  });
});
