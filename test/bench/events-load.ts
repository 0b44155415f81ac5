// Posts webhooks as the upstream does, and records when each was answered and when its event
// arrived.
import { setTimeout as sleep } from 'node:timers/promises';
import { dueAfter } from './load';
import { requestBytes } from '../testkit/request-bytes';
import { bodyOf, signed } from '../testkit/upstream-webhooks';
import { createWireClient } from './wire-client';

/** For each place: enough that every few messages come from a new customer. */
const CUSTOMERS_MAX = 5_000;
/** Counts the customers of all places, so that more places do not mean more new customers. */
const ALL_CUSTOMERS = 50_000;
const MIX = 2_654_435_761;
const ARRIVAL_LIMIT_MS = 120_000;
const LOOK_EVERY_MS = 100;

export interface Place {
  waba_id: string;
  phone_number_id: string;
  partner_key: string;
}

export interface Answered {
  id: string;
  place: number;
  /**
   * When the post was due and when it was answered, on the monotonic clock shared by all processes.
   */
  due_ms: number;
  at_ms: number;
  status: number;
}

export const now = (): number => Number(process.hrtime.bigint()) / 1e6;

let next = 0;
let bodies = 0;

export interface Webhook {
  id: string;
  place: number;
  body: string;
}

export function webhook(places: Place[], items = 1): Webhook {
  const place = bodies++ % places.length;
  const number = places[place] as Place;
  const customers = Math.min(CUSTOMERS_MAX, Math.ceil(ALL_CUSTOMERS / places.length));
  // Scattered, so that new customers keep appearing while others write again.
  const customer = String(15_550_200_000 + ((Math.imul(next, MIX) >>> 8) % customers));
  const messages = Array.from({ length: items }, () => {
    next += 1;
    return {
      from: customer,
      id: `wamid.HBgLMTU1NTAxMDA3NzcVAgARGBI${String(next).padStart(10, '0')}`,
      timestamp: String(Math.floor(Date.now() / 1_000)),
      type: 'text',
      text: { body: 'Is my order on its way already? I would need it by Friday.' },
    };
  });
  const value = {
    messaging_product: 'whatsapp',
    metadata: { display_phone_number: '15550100001', phone_number_id: number.phone_number_id },
    contacts: [{ wa_id: customer, profile: { name: 'A customer' } }],
    messages,
  };
  const body = bodyOf(number, [{ field: 'messages', value }]);
  return { id: messages.at(-1)?.id ?? '', place, body };
}

/** Its signed post, as it goes over the wire. */
export const wireWebhook = (ingress: URL, { body }: Webhook): Buffer =>
  requestBytes(ingress, '/webhooks/upstream', signed(body), body);

export interface Load {
  /**
   * Prepares all posts; the returned function makes them, with `workers` in flight until all are
   * posted.
   */
  closed(webhooks: Webhook[], workers: number): () => Promise<Answered[]>;
  /** Posts at `rate` per second, regardless of the answers. */
  open(make: () => Webhook, rate: number, seconds: number): Promise<Answered[]>;
  close(): void;
}

export function createLoad(ingress: string): Load {
  const client = createWireClient(ingress);
  const origin = new URL(ingress);
  const wire = (one: Webhook): Buffer => wireWebhook(origin, one);
  const fire = async ({ id, place }: Webhook, request: Buffer, due_ms: number) => {
    const status = await client.send(request);
    return { id, place, due_ms, at_ms: now(), status };
  };
  return {
    closed(webhooks, workers) {
      const requests = webhooks.map(wire);
      return async () => {
        const answered: Answered[] = [];
        let index = 0;
        const work = async (): Promise<void> => {
          for (let at = index++; at < webhooks.length; at = index++) {
            answered.push(await fire(webhooks[at] as Webhook, requests[at] as Buffer, now()));
          }
        };
        await Promise.all(Array.from({ length: workers }, work));
        return answered;
      };
    },
    async open(make, rate, seconds) {
      const pending: Promise<Answered>[] = [];
      const started = now();
      const total = Math.floor(rate * seconds);
      while (pending.length < total) {
        const due = dueAfter(now() - started, rate, total);
        while (pending.length < due) {
          const one = make();
          pending.push(fire(one, wire(one), started + (pending.length / rate) * 1_000));
        }
        await sleep(1);
      }
      return Promise.all(pending);
    },
    close: () => client.close(),
  };
}

export interface ReceiverControl {
  count(): Promise<number>;
  until(count: number): Promise<void>;
  /** Returns the first arrival of each event, and clears the record. */
  report(): Promise<Map<string, number>>;
  hang(path: string): Promise<void>;
  heal(): Promise<void>;
}

export function receiverControl(url: string): ReceiverControl {
  // any: two shapes
  const ask = async (path: string) => (await (await fetch(`${url}${path}`)).json()) as any;
  const count = async (): Promise<number> => (await ask('/count')).count;
  return {
    count,
    async until(wanted) {
      const until = Date.now() + ARRIVAL_LIMIT_MS;
      while ((await count()) < wanted) {
        if (Date.now() > until) throw new Error(`${await count()} of ${wanted} events arrived`);
        await sleep(LOOK_EVERY_MS);
      }
    },
    async report() {
      const { arrivals } = (await ask('/report')) as { arrivals: Array<[string, number]> };
      const first = new Map<string, number>();
      for (const [id, at] of arrivals) if (!first.has(id)) first.set(id, at);
      return first;
    },
    hang: async (path) => void (await ask(`/hang?path=${path}`)),
    heal: async () => void (await ask('/heal')),
  };
}
