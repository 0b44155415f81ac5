import { createClients } from './clients';
import { endpoints } from './endpoints';

test('every endpoint has a client of the service that it calls', () => {
  const address = '127.0.0.1:1';
  const { client } = createClients({
    onboarding: address,
    messaging: address,
    templates: address,
    broadcasts: address,
    'number-admin': address,
    webhooks: address,
  });
  for (const { rpc, csv, variant } of endpoints) {
    for (const called of [rpc, csv, variant?.rpc]) {
      if (called) expect(client(called.definition)).toHaveProperty(called.method);
    }
  }
});
