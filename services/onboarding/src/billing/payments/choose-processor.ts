// Chooses the payment processor that PAYMENT_PROCESSOR names.
import { ConfigError } from '@bmg/common/config';
import { ApiError } from '@bmg/common/errors';
import { implement } from '@bmg/common/rpc';
import { PaymentsDefinition } from '@bmg/proto/billing';
import type { PaymentProcessor } from './processor';
import { createStripePayments, type StripeDependencies } from './stripe/processor';

export const PROCESSOR_NAMES = ['none', 'stripe'] as const;

const noProcessor = (): never => {
  throw new ApiError('NOT_CONFIGURED', 'no payment processor is configured on this service');
};

/** PAYMENT_PROCESSOR=none: charges nothing and allows every registration up to the plan's limit. */
export const noPayments: PaymentProcessor = {
  name: 'none',
  cover: async () => ({ billing: 'active', active_max: Infinity }),
  review: async () => undefined,
  workers: [],
  rpcs: [
    implement(PaymentsDefinition, {
      handlePaymentEvent: async () => noProcessor(),
      createCardSession: async () => noProcessor(),
      getBilling: async () => ({
        processor: 'none',
        state: 'active',
        card_known: true,
        invoices: [],
        waiting_waba_ids: [],
      }),
    }),
  ],
};

interface PaymentSettings {
  PAYMENT_PROCESSOR: (typeof PROCESSOR_NAMES)[number];
  STRIPE_API_KEY: string | undefined;
  STRIPE_WEBHOOK_SECRET: string | undefined;
  STRIPE_API_BASE: string;
  PUBLIC_URL: string;
}

/** Throws ConfigError naming every missing setting. */
export function choosePaymentProcessor(
  settings: PaymentSettings,
  deps: StripeDependencies,
): PaymentProcessor {
  if (settings.PAYMENT_PROCESSOR === 'none') return noPayments;
  const { STRIPE_API_KEY, STRIPE_WEBHOOK_SECRET, STRIPE_API_BASE, PUBLIC_URL } = settings;
  if (STRIPE_API_KEY === undefined || STRIPE_WEBHOOK_SECRET === undefined) {
    const missing = Object.entries({ STRIPE_API_KEY, STRIPE_WEBHOOK_SECRET })
      .filter(([, value]) => value === undefined)
      .map(([setting]) => `${setting} is required if PAYMENT_PROCESSOR is stripe`);
    throw new ConfigError(missing);
  }
  return createStripePayments(
    {
      api_key: STRIPE_API_KEY,
      webhook_secret: STRIPE_WEBHOOK_SECRET,
      api_base: STRIPE_API_BASE,
      public_url: PUBLIC_URL,
    },
    deps,
  );
}
