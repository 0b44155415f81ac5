// The receivers of a test file beside those of its partners.
import type { Caller } from './broadcast-support';
import { chosenSecret, startPartner, type PartnerReceiver } from '../testkit/partner';

export interface Endpoint {
  endpoint_id: string;
  secret: string;
  receiver: PartnerReceiver;
}

export interface Receivers {
  add(): Promise<PartnerReceiver>;
  /** An endpoint of the partner, whose receiver has accepted the test event. */
  addEndpoint(partner: Caller, settings?: object): Promise<Endpoint>;
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
    async close() {
      for (const one of all) await one.close();
    },
  };
}
