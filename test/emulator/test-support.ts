// For this folder's tests: an emulator with a webhook receiver that records, and API calls.
import { startPartner, type PartnerReceiver } from '../testkit/partner';
import { callRest, type Answer } from '../testkit/rest';
import { startEmulator, type Emulator } from './index';

export const ONE = {
  waba: '900000000000001',
  number: '800000000000001',
  token: 'EMULATED-TOKEN-1',
};
export const TWO = { cloud_number: '800000000000003', token: 'EMULATED-TOKEN-2' };
export const THREE = { fast_number: '800000000000006', token: 'EMULATED-TOKEN-3' };

export type Any = any;

export interface World {
  emulator: Emulator;
  receiver: PartnerReceiver;
  /** The changes of the webhooks that have arrived, of one field. */
  changes(field: string): Any[];
  statuses(): Any[];
  close(): Promise<void>;
}

export async function startWorld(): Promise<World> {
  const receiver = await startPartner();
  const emulator = await startEmulator({ port: 0, webhook_url: receiver.url });
  const changes = (field: string): Any[] =>
    receiver.arrivals
      .flatMap(({ body }: Any) => body.entry)
      .flatMap((entry) => entry.changes)
      .filter((change) => change.field === field);
  return {
    emulator,
    receiver,
    changes,
    statuses: () => changes('messages').flatMap(({ value }) => value.statuses ?? []),
    close: async () => {
      await emulator.close();
      await receiver.close();
    },
  };
}

export type Api = (method: string, path: string, body?: unknown) => Promise<Answer>;

/** Calls the versioned API with a token; the path may include a query. */
export const apiOf =
  ({ url, config }: Emulator, token: string): Api =>
  (method, path, body) =>
    callRest(`${url}/${config.api_version}`, method, path, body, {
      authorization: `Bearer ${token}`,
    });

export const aText = (to = '15550100777'): Any => ({
  messaging_product: 'whatsapp',
  to,
  type: 'text',
  text: { body: 'Hello' },
});

export const aTemplate = (name: string, components: unknown[] = [], more: object = {}): Any => ({
  messaging_product: 'whatsapp',
  to: '15550100777',
  type: 'template',
  template: { name, language: { code: 'en_US' }, components },
  ...more,
});

export const bodyOf = (...texts: string[]): Any => ({
  type: 'body',
  parameters: texts.map((text) => ({ type: 'text', text })),
});
