// The receivers of a test file beside those of its partners.
import { startPartner, type PartnerReceiver } from '../testkit/partner';

export interface Receivers {
  add(): Promise<PartnerReceiver>;
  /** In the order in which they were added. */
  all: readonly PartnerReceiver[];
  close(): Promise<void>;
}

export function createReceivers(): Receivers {
  const all: PartnerReceiver[] = [];
  return {
    all,
    async add() {
      const receiver = await startPartner();
      all.push(receiver);
      return receiver;
    },
    async close() {
      for (const one of all) await one.close();
    },
  };
}
