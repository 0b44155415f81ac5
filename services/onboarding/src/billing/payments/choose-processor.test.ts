import { loadConfig } from '@bmg/common/config';
import { settings } from '../../config';
import { choosePaymentProcessor } from './choose-processor';

const choose = (STRIPE_API_KEY?: string) => () =>
  choosePaymentProcessor(
    {
      PAYMENT_PROCESSOR: 'stripe',
      STRIPE_API_KEY,
      STRIPE_WEBHOOK_SECRET: undefined,
      STRIPE_API_BASE: 'https://api.stripe.com',
      PUBLIC_URL: 'https://gateway.test',
    },
    {} as never,
  );

test('stripe does not start without its secrets, and the error names both', () => {
  expect(choose()).toThrow(/invalid settings \(2\):\s+STRIPE_API_KEY .*\s+STRIPE_WEBHOOK_SECRET /);
  expect(choose('sk_test_1')).toThrow(/invalid settings \(1\):\s+STRIPE_WEBHOOK_SECRET /);
});

test('a processor with an unknown name is refused', () => {
  const { PAYMENT_PROCESSOR } = settings;
  const load = () => loadConfig({ PAYMENT_PROCESSOR }, { PAYMENT_PROCESSOR: 'cash' });
  expect(load).toThrow(/PAYMENT_PROCESSOR .*none, stripe/);
});
