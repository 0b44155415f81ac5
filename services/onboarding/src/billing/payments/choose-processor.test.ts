import { loadConfig } from '@bmg/common/config';
import { settings } from '../../config';
import { createOnboarding } from '../../service';

const env = {
  MONGO_URL: 'mongodb://127.0.0.1:1',
  KAFKA_BROKERS: '127.0.0.1:1',
  REDIS_URL: 'redis://127.0.0.1:1',
  PUBLIC_URL: 'https://gateway.test',
  ENCRYPTION_KEYRING: 'local:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=',
  KEY_PEPPER: 'pepper',
};
const create = (more: NodeJS.ProcessEnv): unknown =>
  createOnboarding(loadConfig(settings, { ...env, ...more }));

describe('the payment processor', () => {
  test('stripe does not start without its secrets, and the error names both', () => {
    expect(() => create({ PAYMENT_PROCESSOR: 'stripe' })).toThrow(
      /invalid settings \(2\):\s+STRIPE_API_KEY .*\s+STRIPE_WEBHOOK_SECRET /,
    );
    expect(() => create({ PAYMENT_PROCESSOR: 'stripe', STRIPE_API_KEY: 'sk_test_1' })).toThrow(
      /invalid settings \(1\):\s+STRIPE_WEBHOOK_SECRET /,
    );
  });

  test('with an unknown name is refused', () => {
    expect(() => create({ PAYMENT_PROCESSOR: 'cash' })).toThrow(/PAYMENT_PROCESSOR .*none, stripe/);
  });
});
