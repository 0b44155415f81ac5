// Alerts become events; an extra event only for a partner whose filters name it.
import type { Received } from '@bmg/common/bus';
import type { Alert, Delivery } from '@bmg/proto/stream';
import { deliverAlerts } from './alerts';

let published: Delivery[];
let looked_up: string[][];
beforeEach(() => {
  published = [];
  looked_up = [];
});

const deliver = (...alerts: Array<Partial<Alert>>): Promise<void> => {
  const handle = deliverAlerts({
    bus: {
      publish: async (all) => void published.push(...all.map(({ message }) => message as Delivery)),
    },
    wishes: {
      async of(partner_ids) {
        looked_up.push([...partner_ids]);
        return new Map([['ptn_1', new Set(['client.connected'])]]);
      },
    },
    public_url: 'https://gateway.test',
  });
  const batch = alerts.map((alert, index) => ({
    message: {
      partner_id: 'ptn_1',
      occurrence: `o${index}`,
      timestamp: 1_790_000_000,
      data: '{"a":1}',
      ...alert,
    },
    span: undefined,
  }));
  return handle(batch as Received<Alert>[]);
};
const names = () => published.map(({ partner_id, event }) => [partner_id, event]);

test('an extra event reaches only partners that ask for it', async () => {
  await deliver(
    { event: 'client.connected' },
    { event: 'client.removed' },
    { event: 'client.connected', partner_id: 'ptn_2' },
    { partner_id: 'ptn_2' },
    { event: 'webhook.endpoint_disabled', partner_id: 'ptn_2' },
  );
  expect(names()).toEqual([
    ['ptn_1', 'client.connected'],
    ['ptn_2', 'partner.alert'],
    ['ptn_2', 'webhook.endpoint_disabled'],
  ]);
  expect(looked_up).toEqual([['ptn_1', 'ptn_1', 'ptn_2']]);
});

test('other alerts look nothing up, and unwanted ones publish nothing', async () => {
  await deliver({}, { event: 'webhook.endpoint_disabled' });
  expect(looked_up).toEqual([]);
  published = [];
  await deliver({ event: 'client.failed' });
  expect(published).toEqual([]);
});

test('the envelope names the account and the number of the alert', async () => {
  const number = { waba_id: '9', phone_number_id: '8' };
  await deliver({ event: 'client.connected', ...number }, {});
  expect(published[0]).toMatchObject(number);
  expect(JSON.parse(String(published[0]?.body))).toMatchObject(number);
  expect(published[1]).toMatchObject({ waba_id: '', phone_number_id: undefined });
  const without_number = { waba_id: null, phone_number_id: null };
  expect(JSON.parse(String(published[1]?.body))).toMatchObject(without_number);
});
