// Faults of real processes and engines. In each, 200 means stored safely; afterwards every
// acknowledged event has reached every partner, in order at first delivery, and a program that only
// reads the log has it exactly once. BMG_FAULTS=long takes the full times.
import { setTimeout as sleep } from 'node:timers/promises';
import type { EngineName } from '@bmg/local';
import { eventually } from '../testkit/eventually';
import { ONE } from '../harness/world';
import type { ProcessPartner } from '../harness/process-mesh';
import type { PartnerReceiver } from '../testkit/partner';
import { inboundBody, postRaw } from '../testkit/upstream-webhooks';
import { outOfOrder, registered, startTraffic, untilComplete } from './faults-support';
import { signalProcess } from '../testkit/signal-process';
import { startLogReader, type LogReader } from './log-reader';
import { idOf, useReceivers } from './receivers';
import { useProcesses } from './use-processes';

const LONG = process.env['BMG_FAULTS'] === 'long';
// How long each fault lasts is part of the test.
const AWAY_MS = LONG ? 20_000 : 4_000;
const BRIEFLY_MS = 1_000;
/** How long a faulty receiver answers 500, hangs, resets or trickles. */
const ILL_MS = LONG ? 60_000 : 5_000;
const FAULT_LIMIT_MS = LONG ? 600_000 : 150_000;
const COMPLETE_LIMIT_MS = 90_000;
/** How long conversations run before and after a fault. */
const BEFORE_MS = 1_000;
const AFTER_MS = 1_000;
/** Less than the timeout of an attempt at a faulty receiver. */
const WELL_LIMIT_MS = 8_000;

jest.setTimeout(FAULT_LIMIT_MS);

/** The reader of a partner without a webhook URL, which reads through all faults. */
let log: LogReader;
afterAll(() => log?.stop());
const mesh = useProcesses();
const added = useReceivers();
let receivers: [PartnerReceiver, PartnerReceiver];
const acknowledged: string[] = [];
let fault = 0;

beforeAll(async () => {
  receivers = [await added.add(), await added.add()];
  for (const receiver of receivers) await registered(mesh, receiver, ONE);
  const puller = await mesh.createPartner();
  await puller.register(ONE);
  log = startLogReader(mesh.base_url, puller.partner_key);
});

/** Runs conversations before, during and after the fault, then compares the events. */
async function during(harm: () => Promise<void>): Promise<Map<number, number>> {
  fault += 1;
  const traffic = startTraffic(mesh.ingress_url, ONE, `F${fault}`);
  await sleep(BEFORE_MS);
  await harm();
  await sleep(AFTER_MS);
  await traffic.stop();
  const ids = traffic.acknowledged.flat();
  for (const receiver of receivers) {
    await untilComplete(receiver, ids, COMPLETE_LIMIT_MS);
    expect(outOfOrder(receiver, traffic.acknowledged)).toEqual([]);
  }
  await log.untilStored(ids, COMPLETE_LIMIT_MS);
  expect(log.outOfOrder(traffic.acknowledged)).toEqual([]);
  await mesh.expectCommitted(COMPLETE_LIMIT_MS);
  acknowledged.push(...ids);
  const repeated =
    receivers[0].arrivals.filter((one) => ids.includes(idOf(one))).length - ids.length;
  const statuses = [...traffic.statuses].map(([status, count]) => `${status}: ${count}`).join(', ');
  process.stdout.write(
    `  ${expect.getState().currentTestName}: ${ids.length} events, repeated ${repeated}, answers ${statuses}\n`,
  );
  for (const status of traffic.statuses.keys()) expect([200, 503, 0]).toContain(status);
  return traffic.statuses;
}

describe('faults of a process', () => {
  test('loses no event when webhooks is killed between receipt and answer', async () => {
    await during(async () => {
      for (let time = 0; time < (LONG ? 5 : 2); time += 1) {
        await mesh.kill('webhooks');
        await mesh.start('webhooks');
        await sleep(BRIEFLY_MS);
      }
    });
  });

  test.each([
    ['fanout', BRIEFLY_MS],
    ['onboarding', AWAY_MS],
  ] as const)('loses no event when %s is killed', async (name, away_ms) => {
    const statuses = await during(async () => {
      await mesh.kill(name);
      await sleep(away_ms);
      await mesh.start(name);
    });
    expect([...statuses.keys()]).toEqual([200]);
  });

  test('loses no event when webhooks is restarted under load', async () => {
    await during(async () => {
      await mesh.terminate('webhooks');
      await mesh.start('webhooks');
    });
  });
});

/** Longer than a consumer may be silent, so that its partitions are assigned again. */
const PAUSED_MS = 13_000;
const PAUSED_FROM = '15550399001';
const BACKLOG = 400;
const SLOW_MS = 50;

test('commits every event after webhooks has paused for 13 seconds over a backlog', async () => {
  // Deliveries wait for the first receiver, and the events that follow wait for the deliveries.
  receivers[0].behave(async (_arrival, response) => {
    await sleep(SLOW_MS);
    response.writeHead(200).end();
  });
  const ids = Array.from({ length: BACKLOG }, (_none, at) => `wamid.PAUSED.${at}`);
  await Promise.all(
    ids.map(async (id, at) => {
      const body = inboundBody(ONE, { from: `${Number(PAUSED_FROM) + (at % 40)}`, id });
      await eventually(async () => (await postRaw(mesh.ingress_url, body)) === 200);
    }),
  );
  const pid = mesh.pid('webhooks');
  await signalProcess(pid, 'SIGSTOP');
  await sleep(PAUSED_MS);
  await signalProcess(pid, 'SIGCONT');
  for (const receiver of receivers) await untilComplete(receiver, ids, COMPLETE_LIMIT_MS);
  receivers[0].behave(undefined);
  await log.untilStored(ids, COMPLETE_LIMIT_MS);
  await mesh.expectCommitted(COMPLETE_LIMIT_MS);
  expect(mesh.pid('webhooks')).toBe(pid);
  acknowledged.push(...ids);
});

describe('faults of an engine', () => {
  const without = (engine: EngineName) =>
    during(async () => {
      await mesh.killEngine(engine);
      await sleep(AWAY_MS);
      await mesh.startEngine(engine);
    });

  test.each(['redis', 'mongo'] as const)('loses no event while %s is down', async (engine) => {
    expect([...(await without(engine)).keys()]).toEqual([200]);
  });

  test('answers 503 while Kafka is down and loses no event', async () => {
    expect((await without('kafka')).get(503)).toBeGreaterThan(0);
  });
});

interface Reply {
  statusCode: number;
  write(text: string): void;
  end(text?: string): void;
  destroy(): void;
}

describe('a receiver', () => {
  const FAULTS: Record<string, (response: Reply) => void> = {
    hangs: (response) => void setTimeout(() => response.destroy(), 60_000),
    resets: (response) => response.destroy(),
    trickles: (response) => {
      const timer = setInterval(() => response.write('.'), 200);
      setTimeout(() => {
        clearInterval(timer);
        response.destroy();
      }, 30_000).unref();
    },
    'answers 500': (response) => {
      response.statusCode = 500;
      response.end();
    },
  };
  const recoveries = new Map<string, Promise<void>>();

  // All faults run at once: four faulty receivers take no longer than one.
  beforeAll(async () => {
    let ill = true;
    const faulty = await Promise.all(
      Object.entries(FAULTS).map(async ([name, misbehave]) => {
        const receiver = await added.add();
        const partner = await registered(mesh, receiver, ONE);
        receiver.behave((_arrival, response) => {
          if (ill) misbehave(response as never);
          else response.end('ok');
        });
        return { name, receiver, partner };
      }),
    );
    fault += 1;
    const traffic = startTraffic(mesh.ingress_url, ONE, `F${fault}`);
    await sleep(ILL_MS);
    await traffic.stop();
    const ids = traffic.acknowledged.flat();
    // Healthy receivers get everything long before the first timeout of a faulty one.
    for (const well of receivers) await untilComplete(well, ids, WELL_LIMIT_MS);
    ill = false;
    for (const { name, receiver, partner } of faulty) {
      const recovery = recovered(receiver, partner, ids);
      recovery.catch(() => undefined);
      recoveries.set(name, recovery);
    }
  });

  /** Retries all failed events instead of waiting for the schedule, then expects none missing. */
  async function recovered(
    receiver: PartnerReceiver,
    partner: ProcessPartner,
    ids: string[],
  ): Promise<void> {
    await eventually(async () => {
      await partner.call('POST', '/webhooks/retry-all');
      await untilComplete(receiver, ids, 2_000);
      return true;
    });
    await eventually(async () => (await partner.call('GET', '/webhooks/failed')).body.count === 0);
    await partner.call('DELETE', `/clients/${ONE.waba_id}`);
  }

  test.each(Object.keys(FAULTS))(
    'that %s for a while delays no other receiver and misses no event',
    async (name) => {
      await recoveries.get(name);
      expect(recoveries.has(name)).toBe(true);
    },
  );
});

const PROCESSES = ['gateway', 'onboarding', 'webhooks', 'fanout'] as const;
const ENGINES = ['kafka', 'mongo', 'redis'] as const;

test('loses no event when all processes and engines are killed at once', async () => {
  await during(async () => {
    await Promise.all([
      ...PROCESSES.map((name) => mesh.kill(name)),
      ...ENGINES.map((name) => mesh.killEngine(name)),
    ]);
    await Promise.all(ENGINES.map((name) => mesh.startEngine(name)));
    await Promise.all(PROCESSES.map((name) => mesh.start(name)));
  });
});

test('the log has every event of all faults exactly once, and is the same when read again', async () => {
  const stored = await log.stop();
  expect(stored.map(({ seq }) => seq)).toEqual(stored.map((_event, index) => index + 1));
  expect(new Set(stored.map(({ event_id }) => event_id)).size).toBe(stored.length);
  const times = new Map<string, number>();
  for (const { message_id } of stored) times.set(message_id, (times.get(message_id) ?? 0) + 1);
  expect(acknowledged.filter((id) => times.get(id) !== 1)).toEqual([]);
  expect(await log.readAgain()).toEqual(stored);
});

test('posts nothing again after a restart that follows the faults', async () => {
  await mesh.expectCommitted(COMPLETE_LIMIT_MS);
  const before = receivers.map(({ arrivals }) => arrivals.length);
  for (const name of ['fanout', 'webhooks'] as const) {
    await mesh.terminate(name);
    await mesh.start(name);
  }
  const last = 'wamid.AFTER.RESTART';
  const body = inboundBody(ONE, { from: PAUSED_FROM, id: last });
  await eventually(async () => (await postRaw(mesh.ingress_url, body)) === 200);
  for (const receiver of receivers) await untilComplete(receiver, [last], COMPLETE_LIMIT_MS);
  await mesh.expectCommitted(COMPLETE_LIMIT_MS);
  const after = receivers.map(({ arrivals }, at) => arrivals.slice(before[at]).map(idOf));
  expect(after).toEqual([[last], [last]]);
});
