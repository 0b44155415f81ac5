// Lives of messages: a send through the gateway, the events of its three statuses at the receiver,
// and its record. The stub of the upstream posts the statuses. This process is partner and
// receiver. The floor of a life is a send through the bare chain, then three events through theirs,
// and no record.
import { setTimeout as sleep } from 'node:timers/promises';
import { MongoClient, type Collection } from 'mongodb';
import { freePort } from '@bmg/local';
import { requestBytes } from '../testkit/request-bytes';
import {
  atRate,
  aText,
  closedLoop,
  inFlightFor,
  keyOf,
  now,
  openLoop,
  sendShot,
  SILENT,
  summary,
  webhook,
  wireWebhook,
  type Measured,
  type Place,
} from './load';
import { tailsDuring, type Tails } from './measure';
import { prepareMesh, startBareEvents, startBareSends, type Setup } from './mesh';
import { costDuring, type Bench, type Cost } from './processes';
import { createWireClient, respond, startWireServer } from './wire';

const STATUSES = 3;
const EVENT = /"event":"(message\.\w+)"/;
const MESSAGE_ID = /"message_id":"([^"]+)"/;
const OK = 200;
const PAGE = 500;
const ARRIVAL_LIMIT_MS = 60_000;
const RECORDS_LIMIT_MS = 30_000;
const LOOK_EVERY_MS = 100;

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

interface Times {
  sends: number[];
  lives: number[];
  failed: number;
  begun: number;
  /** Messages with a record. */
  ids: Set<string>;
}

type Live = (run: Times, due_ms: number) => Promise<void>;

const aSilentText = (index: number): string =>
  JSON.stringify({ ...JSON.parse(aText(index)), text: SILENT });

export async function prepareLives(bench: Bench, partners: number): Promise<LifeLoad> {
  const own_port = await freePort();
  const arrivals = startReceiver(own_port);
  const setup = await prepareMesh(bench, { partners, stub: 'statuses', own_port });
  const gateway = new URL(setup.gateway);
  const client = createWireClient(gateway.origin);
  const mongo = await MongoClient.connect(bench.engines.MONGO_URL);
  const records = mongo.db('messaging').collection('messages');
  const shot = sendShot(gateway.origin, setup.places, aSilentText);
  let next = 0;
  const live: Live = async (run, due_ms) => {
    const index = next++;
    const headers = {
      'content-type': 'application/json',
      ...keyOf(setup.places[index % partners] as Place),
    };
    const { status, body } = await client.ask(
      requestBytes(gateway, '/v1/messages/send', headers, aText(index)),
    );
    const id = MESSAGE_ID.exec(body)?.[1];
    run.sends.push(now() - due_ms);
    if (status !== OK || id === undefined) return void (run.failed += 1);
    run.begun += 1;
    run.ids.add(id);
    await arrivals.all(id, STATUSES);
    run.lives.push(now() - due_ms);
  };
  const closers: Array<() => void> = [client.close, arrivals.close, setup.load.close];
  return {
    ...setup,
    ...loadWith(live, setup, records),
    async startFloor() {
      const events = await startBareEvents(setup);
      Object.assign(setup.pids, events.pids);
      const sends = await startBareSends(setup);
      const floor = floorOf(setup, arrivals, events.ingress, new URL(sends.shot.origin));
      closers.push(floor.close, events.load.close);
      return {
        ...loadWith(floor.live, setup, records),
        parts: [...events.parts, ...sends.parts],
      };
    },
    openSends: (rate, seconds) => openLoop(shot, rate, seconds),
    closedSends: (in_flight, seconds) => closedLoop(shot, in_flight, seconds),
    async close() {
      await mongo.close();
      for (const close of closers) close();
    },
  };
}

/** A life through the bare chains: a send, then an event for each status. */
function floorOf(
  { places }: Setup,
  arrivals: Arrivals,
  ingress: URL,
  edge: URL,
): { live: Live; close(): void } {
  const [sends, posts] = [createWireClient(edge.origin), createWireClient(ingress.origin)];
  const headers = { 'content-type': 'application/json' };
  let next = 0;
  return {
    async live(run, due_ms) {
      const { status } = await sends.ask(requestBytes(edge, '/', headers, aSilentText(next++)));
      run.sends.push(now() - due_ms);
      if (status !== OK) return void (run.failed += 1);
      run.begun += 1;
      const arrived: Promise<void>[] = [];
      for (let event = 0; event < STATUSES; event += 1) {
        const one = webhook(places);
        arrived.push(arrivals.all(one.id, 1));
        await posts.ask(wireWebhook(ingress, one));
      }
      await Promise.all(arrived);
      run.lives.push(now() - due_ms);
    },
    close() {
      sends.close();
      posts.close();
    },
  };
}

function loadWith(live: Live, { bench, pids }: Setup, records: Collection): LoadOfLives {
  const measure = async (load: (run: Times) => Promise<unknown>): Promise<Lives> => {
    const run: Times = { sends: [], lives: [], failed: 0, begun: 0, ids: new Set() };
    let seconds = 0;
    const { result, tails } = await tailsDuring(bench, () =>
      costDuring(pids, async () => {
        const started = now();
        await load(run);
        seconds = (now() - started) / 1_000;
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
  return {
    closed: (in_flight, seconds) =>
      measure((run) => inFlightFor(in_flight, seconds, () => live(run, now()))),
    open: (rate, seconds) => measure((run) => atRate(rate, seconds, (due) => live(run, due))),
  };
}

/** The events of one message that have arrived, and the callback to run once all of them have. */
interface Life {
  events: Set<string>;
  wanted: number;
  complete: (() => void) | undefined;
}

interface Arrivals {
  /** Resolves once so many different events of a message have arrived. */
  all(id: string, wanted: number): Promise<void>;
  close(): void;
}

function startReceiver(port: number): Arrivals {
  const lives = new Map<string, Life>();
  const lifeOf = (id: string): Life => {
    const life = lives.get(id) ?? { events: new Set(), wanted: Infinity, complete: undefined };
    lives.set(id, life);
    return life;
  };
  const server = startWireServer(port, ({ body }, socket) => {
    respond(socket, 'ok');
    const id = MESSAGE_ID.exec(body)?.[1];
    const event = EVENT.exec(body)?.[1];
    if (id === undefined || event === undefined) return;
    const life = lifeOf(id);
    life.events.add(event);
    if (life.events.size === life.wanted) life.complete?.();
  });
  return {
    /** The events may arrive before the answer to the send. */
    async all(id, wanted) {
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
