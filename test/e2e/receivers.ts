// The messages that customers send, and the receivers that get them: those of partners, and further
// ones of a test file.
import type { Mesh } from '../harness/shared-mesh';
import { ONE } from '../harness/world';
import { eventually } from '../testkit/eventually';
import { chosenSecret, startPartner, type Arrival, type PartnerReceiver } from '../testkit/partner';
import { inboundBody, postRaw, type InboundText } from '../testkit/upstream-webhooks';
import type { Caller } from './broadcast-support';

let count = 0;
/** The ID of a message that the file has not used. */
export const nextId = (): string => `wamid.E${(count += 1)}`;

/** Posts texts of customers to the ingress, one webhook each, and returns their message IDs. */
export const inboundTo =
  (mesh: Pick<Mesh, 'ingress_url'>, number = ONE) =>
  async (...messages: Array<Partial<InboundText>>): Promise<string[]> => {
    const sent = messages.map((given) => ({ id: nextId(), from: '15550100801', ...given }));
    for (const message of sent) {
      expect(await postRaw(mesh.ingress_url, inboundBody(number, message))).toBe(200);
    }
    return sent.map(({ id }) => id);
  };

export const idOf = ({ body }: Arrival): string => String(body.data['message_id']);
/** The messages of the customers that a receiver got, in the order of their arrival. */
export const messagesAt = (receiver: PartnerReceiver): string[] =>
  receiver.of('message.received').map(idOf);
export const untilHas = (receiver: PartnerReceiver, ids: readonly string[]): Promise<unknown> =>
  eventually(() => ids.every((id) => messagesAt(receiver).includes(id)));
/** The first arrival of a message. */
export const arrivalOf = (receiver: PartnerReceiver, id: string | undefined): Promise<Arrival> =>
  eventually(() => receiver.arrivals.find((one) => idOf(one) === id));

/**
 * Waits until the log has so many messages of customers, and every event of the partner is
 * delivered; returns the number of all events.
 */
export const untilLogged = (partner: Caller, messages: number): Promise<number> =>
  eventually(async () => {
    const { events } = (await partner.call('GET', '/events?limit=1000')).body;
    const list = events as Array<{ event: string; delivery: { status: string } }>;
    const is_logged = list.filter(({ event }) => event === 'message.received').length === messages;
    return (
      is_logged && list.every(({ delivery }) => delivery.status === 'delivered') && list.length
    );
  });

export interface Endpoint {
  endpoint_id: string;
  secret: string;
  receiver: PartnerReceiver;
}

export interface Shadow {
  shadow_id: string;
  secret: string;
  receiver: PartnerReceiver;
}

export interface Receivers {
  add(): Promise<PartnerReceiver>;
  /** An endpoint of the partner, whose receiver has accepted the test event. */
  addEndpoint(partner: Caller, settings?: object): Promise<Endpoint>;
  /** A shadow of the partner, whose receiver has accepted the test event. */
  addShadow(partner: Caller, settings?: object): Promise<Shadow>;
  /** In the order in which they were added. */
  all: readonly PartnerReceiver[];
  close(): Promise<void>;
}

export function createReceivers(): Receivers {
  const all: PartnerReceiver[] = [];
  const add = async (): Promise<PartnerReceiver> => {
    const receiver = await startPartner();
    all.push(receiver);
    return receiver;
  };
  return {
    all,
    add,
    async addEndpoint(partner, settings = {}) {
      const receiver = await add();
      const wanted = { url: receiver.url, secret: chosenSecret(), ...settings };
      const { status, body } = await partner.call('POST', '/webhook-endpoints', wanted);
      expect([status, body.error]).toEqual([201, undefined]);
      receiver.arrivals.length = 0;
      return { endpoint_id: body.endpoint.endpoint_id, secret: body.secret, receiver };
    },
    async addShadow(partner, settings = {}) {
      const receiver = await add();
      const wanted = { url: `${receiver.url}?token=of-the-url`, ...settings };
      const { status, body } = await partner.call('POST', '/webhook-shadows', wanted);
      expect([status, body.error]).toEqual([201, undefined]);
      // The events of the last day may follow it at once.
      expect(receiver.arrivals.shift()?.body.event).toBe('webhook.test');
      return { shadow_id: body.shadow.shadow_id, secret: body.secret, receiver };
    },
    async close() {
      for (const one of all) await one.close();
    },
  };
}

/** The receivers of a test file, which close at its end. */
export function useReceivers(): Receivers {
  const receivers = createReceivers();
  afterAll(() => receivers.close());
  return receivers;
}
