// One of ten endpoints of a partner hangs: the p99 of the other nine stays within 1.2 times of that
// of a partner whose ten endpoints all answer, measured at the same time. Needs a machine that does
// nothing else.
import { setTimeout as sleep } from 'node:timers/promises';
import { startKafkaServer } from '../destinations/kafka-server';
import type { DestinationServer } from '../destinations/server';
import {
  JOIN_LIMIT_MS,
  joinMesh,
  ONE,
  TWO_A,
  type Mesh,
  type SeededNumber,
  type TestPartner,
} from '../harness/shared-mesh';
import { eventually } from '../testkit/eventually';
import { chosenSecret, type PartnerReceiver } from '../testkit/partner';
import { SECURE_START_LIMIT_MS } from '../testkit/secure-engines';
import { inboundBody, postRaw } from '../testkit/upstream-webhooks';
import { createReceivers } from './receivers';

const TIMES_MAX = 1.2;
const HEALTHY = 9;
/** The ratio is the median of several rounds: a pause of the machine concerns one of them. */
const ROUNDS = 7;
const EVENTS = 120;
const EVERY_MS = 40;
/** Until everything is compiled, and the hung endpoint counts as slow. */
const WARM_UP_ROUNDS = 2;

interface Side {
  partner: TestPartner;
  number: SeededNumber;
  healthy: PartnerReceiver[];
}

let mesh: Mesh;
let kafka: DestinationServer;
const receivers = createReceivers();
let count = 0;

beforeAll(async () => {
  [mesh, kafka] = await Promise.all([joinMesh(), startKafkaServer()]);
}, JOIN_LIMIT_MS + SECURE_START_LIMIT_MS);
afterAll(async () => {
  await mesh?.stop();
  await receivers.close();
  await kafka?.stop();
});

async function aSide(number: SeededNumber): Promise<Side> {
  const partner = await mesh.createPartner();
  await partner.register(number);
  const healthy: PartnerReceiver[] = [];
  for (let index = 0; index < HEALTHY; index += 1) {
    const receiver = await receivers.add();
    await add(partner, { url: receiver.url, secret: chosenSecret() });
    healthy.push(receiver);
  }
  return { partner, number, healthy };
}

async function add(partner: TestPartner, receiver: object): Promise<void> {
  const { status, body } = await partner.call('POST', '/webhook-endpoints', receiver);
  expect([status, body.error]).toEqual([201, undefined]);
}

/** Posts events to both sides in turns, and returns the p99 of each side's healthy endpoints. */
async function p99Of(sides: readonly [Side, Side]): Promise<[number, number]> {
  for (const { healthy } of sides) for (const one of healthy) one.arrivals.length = 0;
  const posted = new Map<string, number>();
  const ids: [string[], string[]] = [[], []];
  for (let event = 0; event < EVENTS; event += 1) {
    for (const [index, { number }] of sides.entries()) {
      const id = `wamid.I${(count += 1)}`;
      const body = inboundBody(number, { from: `1555010${5_000 + (event % 50)}`, id });
      posted.set(id, Date.now());
      expect(await postRaw(mesh.ingress_url, body)).toBe(200);
      (ids[index] as string[]).push(id);
      await sleep(EVERY_MS / 2);
    }
  }
  const [first, second] = sides.map(async ({ healthy }, index) => {
    const times: number[] = [];
    for (const { arrivals } of healthy) {
      const arrived = () =>
        new Map(arrivals.map(({ at, body }) => [String(body.data['message_id']), at]));
      const all = await eventually(() => {
        const found = arrived();
        return (ids[index] as string[]).every((id) => found.has(id)) && found;
      });
      for (const id of ids[index] as string[]) {
        times.push((all.get(id) as number) - (posted.get(id) as number));
      }
    }
    times.sort((a, b) => a - b);
    return times[Math.floor(times.length * 0.99)] as number;
  }) as [Promise<number>, Promise<number>];
  return [await first, await second];
}

const median = (values: number[]): number =>
  values.sort((a, b) => a - b)[Math.floor(values.length / 2)] as number;

test.each(['a URL', 'a Kafka topic'])(
  '%s that hangs leaves the p99 of nine other endpoints within 1.2 times',
  async (hung) => {
    const sides = [await aSide(ONE), await aSide(TWO_A)] as const;
    const [well, ill] = sides;
    const tenth = await receivers.add();
    await add(well.partner, { url: tenth.url });
    if (hung === 'a URL') {
      const receiver = await receivers.add();
      await add(ill.partner, { url: receiver.url });
      receiver.behave(() => undefined);
    } else {
      await add(ill.partner, { destination: { type: kafka.type, ...kafka.settings } });
      await kafka.hang();
    }
    try {
      for (let round = 0; round < WARM_UP_ROUNDS; round += 1) await p99Of(sides);
      const ratios: number[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        const [without, beside] = await p99Of(sides);
        ratios.push(beside / without);
      }
      process.stdout.write(
        `p99 beside ${hung} that hangs: ${ratios.map((one) => one.toFixed(2)).join(' ')}\n`,
      );
      expect(median(ratios)).toBeLessThanOrEqual(TIMES_MAX);
    } finally {
      if (hung !== 'a URL') await kafka.goOn();
    }
  },
);
