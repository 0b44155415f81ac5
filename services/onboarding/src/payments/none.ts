import type { PaymentProcessor } from './payments';

/** Nothing is ever charged: every registration is allowed, up to the plan's limit. */
export const noPayments: PaymentProcessor = {
  name: 'none',
  cover: async () => ({ billing: 'active', payment_url: null }),
};
