// Chooses the payment processor that PAYMENT_PROCESSOR names.
import { ConfigError } from '@bmg/common/config';
import { noPayments } from './none';
import type { PaymentProcessor } from './processor';
import { createStripePayments, type StripeDependencies } from './stripe/processor';

export const PROCESSOR_NAMES = ['none', 'stripe'] as const;
export type ProcessorName = (typeof PROCESSOR_NAMES)[number];

export interface PaymentSettings {
  PAYMENT_PROCESSOR: ProcessorName;
  STRIPE_API_KEY: string | undefined;
  STRIPE_WEBHOOK_SECRET: string | undefined;
  STRIPE_API_BASE: string;
  PUBLIC_URL: string;
}

/** `stripe` is required if `name` is stripe. Throws ConfigError naming every missing setting. */
export function choosePaymentProcessor(
  name: ProcessorName,
  stripe?: { settings: PaymentSettings; deps: StripeDependencies },
): PaymentProcessor {
  if (name === 'none' || !stripe) return noPayments;
  const { STRIPE_API_KEY, STRIPE_WEBHOOK_SECRET, STRIPE_API_BASE, PUBLIC_URL } = stripe.settings;
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
    stripe.deps,
  );
}
