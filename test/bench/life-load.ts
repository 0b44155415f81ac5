// Lives of messages: a send through the gateway, the events of its three statuses at the receiver,
// and its record. The stub of the upstream posts the statuses. This process is partner and
// receiver. The floor of a life is a send through the bare chain, then three events through theirs,
// and no record.
import { setTimeout as sleep } from 'node:timers/promises';
import { MongoClient, type Collection } from 'mongodb';
import { freePort } from '@bmg/local';
import { startBareEvents } from './bare-chain';
import { aText, startBareSends } from './chain';
import { webhook, wireWebhook, type Place } from './events-load';
import { HOST, prepareMesh, startStub, stubSettings, type Setup } from './events-mesh';
import { closedLoop, dueAfter, openLoop, summary, type Measured, type Shot } from './load';
import { costDuring, type Bench, type Cost } from './processes';
import { SILENT } from './stub-rules';
import { tailsDuring, type Tails } from './tails';
import { createWireClient } from './wire-client';
import { answerOk, startWireServer } from './wire-server';
import { requestBytes } from '../testkit/request-bytes';

const STATUSES = 3;
const EVENT = /"event":"(message\.\w+)"/;
const MESSAGE_ID = /"message_id":"([^"]+)"/;
const OK = 200;
const PAGE = 500;
const ARRIVAL_LIMIT_MS = 60_000;
const RECORDS_LIMIT_MS = 30_000;
const LOOK_EVERY_MS = 100;
/** The bare chain of events joins its groups. */
const FLOOR_START_MS = 10_000;

/** Figures of the lives that began in a period. */
export interface Lives {
  /** The answers to the sends. */
  sends: Measured;
  /** From when a send was due to the arrival of its last event. */
  lives: Measured;
  /** Messages whose record is not `read` in the end. */
  unread: number;
  costs: Record<string, Cost>;
  tails: Tails;
}

export interface LoadOfLives {
  /** Keeps `in_flight` lives running for `seconds`. */
  closed(in_flight: number, seconds: number): Promise<Lives>;
  /** Begins `rate` lives per second, regardless of how they go. */
  open(rate: number, seconds: number): Promise<Lives>;
}

export interface LifeLoad extends Setup, LoadOfLives {
  /** Starts the bare chains; their processes join `pids`, and are returned by name. */
  startFloor(): Promise<LoadOfLives & { parts: string[] }>;
  /** Sends whose statuses the upstream does not post. */
  openSends(rate: number, seconds: number): Promise<Measured>;
  closedSends(in_flight: number, seconds: number): Promise<Measured>;
  close(): Promise<void>;
}

/** The events of one message that have arrived, and the callback to run once all of them have. */
interface Life {
  events: Set<string>;
  wanted: number;
  complete: (() => void) | undefined;
}

interface Times {
  sends: number[];
  lives: number[];
  failed: number;
  begun: number;
  /** Messages with a record. */
  ids: Set<string>;
}

const headersOf = ({ partner_key, waba_id }: Place) => ({
  'x-partner-key': partner_key,
  'x-waba-id': waba_id,
});

const aRun = (): Times => ({ sends: [], lives: [], failed: 0, begun: 0, ids: new Set() });

export async function prepareLives(bench: Bench, partners: number): Promise<LifeLoad> {
  const port = await freePort();
  const arrivals = startReceiver(port);
  const setup = await prepareMesh(bench, partners, stubSettings(bench), port);
  const accounts = setup.places.map((place) => [place.phone_number_id, place.waba_id]);
  startStub(setup, {
    STUB_WEBHOOKS: `http://${HOST}:${bench.port('ingress')}`,
    STUB_ACCOUNTS: JSON.stringify(Object.fromEntries(accounts)),
  });
  const gateway = new URL(`http://${HOST}:${bench.port('gateway')}`);
  const client = createWireClient(gateway.origin);
  const mongo = await MongoClient.connect(bench.engines.MONGO_URL);
  const records = mongo.db('messaging').collection('messages');
  let next = 0;

  const shot = (): Shot => ({
    origin: gateway.origin,
    path: '/v1/messages/send',
    headers: (index) => headersOf(setup.places[index % partners] as Place),
    body: (index) => JSON.stringify({ ...JSON.parse(aText(index)), text: SILENT }),
  });
  async function live(run: Times, due: number): Promise<void> {
    const index = next++;
    const headers = {
      'content-type': 'application/json',
      ...headersOf(setup.places[index % partners] as Place),
    };
    const { status, body } = await client.ask(
      requestBytes(gateway, '/v1/messages/send', headers, aText(index)),
    );
    const id = MESSAGE_ID.exec(body)?.[1];
    run.sends.push(performance.now() - due);
    if (status !== OK || id === undefined) return void (run.failed += 1);
    run.begun += 1;
    run.ids.add(id);
    await arrivals.all(id, STATUSES);
    run.lives.push(performance.now() - due);
  }
  const measure = async (load: (run: Times) => Promise<void>): Promise<Lives> => {
    const run = aRun();
    let seconds = 0;
    const { result, tails } = await tailsDuring(bench, () =>
      costDuring(setup.pids, async () => {
        const started = performance.now();
        await load(run);
        seconds = (performance.now() - started) / 1_000;
        return readBack(records, run.ids);
      }),
    );
    return {
      sends: summary(run.sends, run.failed, seconds),
      lives: summary(run.lives, run.begun - run.lives.length, seconds),
      unread: result.result,
      costs: result.costs,
      tails,
    };
  };
  const loadWith = (live: (run: Times, due: number) => Promise<void>): LoadOfLives => ({
    closed: (in_flight, seconds) =>
      measure(async (run) => {
        const until = performance.now() + seconds * 1_000;
        const work = async (): Promise<void> => {
          while (performance.now() < until) await live(run, performance.now());
        };
        await Promise.all(Array.from({ length: in_flight }, work));
      }),
    open: (rate, seconds) =>
      measure(async (run) => {
        const pending: Promise<void>[] = [];
        const started = performance.now();
        const total = Math.floor(rate * seconds);
        while (pending.length < total) {
          const due = dueAfter(performance.now() - started, rate, total);
          while (pending.length < due) {
            pending.push(live(run, started + (pending.length / rate) * 1_000));
          }
          await sleep(1);
        }
        await Promise.all(pending);
      }),
  });
  const closers: Array<() => void> = [];
  return {
    ...setup,
    ...loadWith(live),
    async startFloor() {
      const events_port = await freePort();
      const parts = startBareEvents(setup, events_port, setup.receiver_url);
      const { shot: bare, parts: sends_parts } = await startBareSends(bench, setup.pids);
      await sleep(FLOOR_START_MS);
      const edge = new URL(bare.origin);
      const ingress = new URL(`http://${HOST}:${events_port}`);
      const [sends, posts] = [createWireClient(edge.origin), createWireClient(ingress.origin)];
      closers.push(sends.close, posts.close);
      const headers = { 'content-type': 'application/json' };
      const floor = async (run: Times, due: number): Promise<void> => {
        const body = shot().body?.(next++) ?? '';
        const status = await sends.send(requestBytes(edge, bare.path, headers, body));
        run.sends.push(performance.now() - due);
        if (status !== OK) return void (run.failed += 1);
        run.begun += 1;
        const arrived: Promise<void>[] = [];
        for (let event = 0; event < STATUSES; event += 1) {
          const one = webhook(setup.places);
          arrived.push(arrivals.all(one.id, 1));
          await posts.send(wireWebhook(ingress, one));
        }
        await Promise.all(arrived);
        run.lives.push(performance.now() - due);
      };
      return { ...loadWith(floor), parts: [...parts, ...sends_parts] };
    },
    openSends: (rate, seconds) => openLoop(shot(), rate, seconds),
    closedSends: (in_flight, seconds) => closedLoop(shot(), in_flight, seconds),
    async close() {
      await mongo.close();
      client.close();
      for (const close of closers) close();
      arrivals.close();
      setup.load.close();
    },
  };
}

/** A receiver that resolves `all` once so many different events of a message have arrived. */
function startReceiver(port: number) {
  const lives = new Map<string, Life>();
  const lifeOf = (id: string): Life => {
    const known = lives.get(id);
    if (known) return known;
    const life: Life = { events: new Set(), wanted: Infinity, complete: undefined };
    lives.set(id, life);
    return life;
  };
  const server = startWireServer(port, ({ body }, socket) => {
    answerOk(socket);
    const id = MESSAGE_ID.exec(body)?.[1];
    const event = EVENT.exec(body)?.[1];
    if (id === undefined || event === undefined) return;
    const life = lifeOf(id);
    life.events.add(event);
    if (life.events.size === life.wanted) life.complete?.();
  });
  return {
    /** The events may arrive before the answer to the send. */
    all: async (id: string, wanted: number): Promise<void> => {
      const life = lifeOf(id);
      life.wanted = wanted;
      if (life.events.size < wanted) {
        await new Promise<void>((resolve, reject) => {
          const late = setTimeout(() => {
            reject(new Error(`${id}: ${[...life.events].join(', ') || 'no event'} arrived`));
          }, ARRIVAL_LIMIT_MS);
          life.complete = () => {
            clearTimeout(late);
            resolve();
          };
        });
      }
      lives.delete(id);
    },
    close: () => {
      server.close();
    },
  };
}

/**
 * Reads the records of all messages until each is `read`; returns how many are not at the end.
 * Directly from the database: the stand-in sorts all records of a partner for each page of the
 * list.
 */
async function readBack(messages: Collection, ids: Set<string>): Promise<number> {
  let left = [...ids];
  for (const until = performance.now() + RECORDS_LIMIT_MS; ;) {
    const unread: string[] = [];
    for (let from = 0; from < left.length; from += PAGE) {
      const page = left.slice(from, from + PAGE);
      const found = await messages
        .find({ message_id: { $in: page }, status: 'read' })
        .project<{ message_id: string }>({ message_id: 1 })
        .toArray();
      const read = new Set(found.map(({ message_id }) => message_id));
      unread.push(...page.filter((id) => !read.has(id)));
    }
    if (unread.length === 0 || performance.now() > until) return unread.length;
    left = unread;
    await sleep(LOOK_EVERY_MS);
  }
}
