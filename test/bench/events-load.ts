// Posts webhooks as the upstream does, and records when each was answered and when its event
// arrived.
import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent } from 'undici';
import { dueAfter } from './load';

const APP_SECRET = 'app-secret-local';
const CONVERSATIONS = 500;
const CONNECTIONS = 256;
const ARRIVAL_LIMIT_MS = 120_000;
const LOOK_EVERY_MS = 20;

export interface Place {
  waba_id: string;
  phone_number_id: string;
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

export interface Webhook {
  id: string;
  place: number;
  body: string;
  signature: string;
}

export function webhook(places: Place[], items = 1): Webhook {
  const place = next % places.length;
  const { waba_id, phone_number_id } = places[place] as Place;
  const messages = Array.from({ length: items }, () => {
    next += 1;
    return {
      from: String(15_550_200_000 + (next % CONVERSATIONS)),
      id: `wamid.HBgLMTU1NTAxMDA3NzcVAgARGBI${String(next).padStart(10, '0')}`,
      timestamp: String(Math.floor(Date.now() / 1_000)),
      type: 'text',
      text: { body: 'Is my order on its way already? I would need it by Friday.' },
    };
  });
  const body = JSON.stringify({
    object: 'whatsapp_business_account',
    entry: [
      {
        id: waba_id,
        changes: [
          {
            field: 'messages',
            value: {
              messaging_product: 'whatsapp',
              metadata: { display_phone_number: '15550100001', phone_number_id },
              contacts: [{ wa_id: messages[0]?.from, profile: { name: 'A customer' } }],
              messages,
            },
          },
        ],
      },
    ],
  });
  const signature = createHmac('sha256', APP_SECRET).update(body).digest('hex');
  return { id: messages.at(-1)?.id ?? '', place, body, signature };
}

export interface Load {
  /** Keeps `workers` posts in flight until all are posted. */
  closed(webhooks: Webhook[], workers: number): Promise<Answered[]>;
  /** Posts at `rate` per second, regardless of the answers. */
  open(make: () => Webhook, rate: number, seconds: number): Promise<Answered[]>;
  close(): Promise<void>;
}

export function createLoad(ingress: string): Load {
  const agent = new Agent({ connections: CONNECTIONS, pipelining: 1 });
  const fire = async ({ id, place, body, signature }: Webhook, due_ms: number) => {
    const status = await agent
      .request({
        origin: ingress,
        path: '/webhooks/upstream',
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-hub-signature-256': `sha256=${signature}`,
        },
        body,
      })
      .then(
        async (answer) => {
          await answer.body.dump();
          return answer.statusCode;
        },
        () => 0,
      );
    return { id, place, due_ms, at_ms: now(), status };
  };
  return {
    async closed(webhooks, workers) {
      const answered: Answered[] = [];
      let index = 0;
      await Promise.all(
        Array.from({ length: workers }, async () => {
          for (;;) {
            const one = webhooks[index++];
            if (!one) return;
            answered.push(await fire(one, now()));
          }
        }),
      );
      return answered;
    },
    async open(make, rate, seconds) {
      const pending: Promise<Answered>[] = [];
      const started = now();
      const total = Math.floor(rate * seconds);
      while (pending.length < total) {
        const due = dueAfter(now() - started, rate, total);
        while (pending.length < due) {
          pending.push(fire(make(), started + (pending.length / rate) * 1_000));
        }
        await sleep(1);
      }
      return Promise.all(pending);
    },
    close: () => agent.close(),
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
  const ask = async (path: string) => (await (await fetch(`${url}${path}`)).json()) as any; // any: two shapes
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
