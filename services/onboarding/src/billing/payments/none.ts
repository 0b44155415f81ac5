import { ApiError } from '@bmg/common/errors';
import { implement } from '@bmg/common/rpc';
import { PaymentsDefinition } from '@bmg/proto/billing';
import type { PaymentProcessor } from './processor';

const noProcessor = (): never => {
  throw new ApiError('NOT_CONFIGURED', 'no payment processor is configured on this service');
};

/** PAYMENT_PROCESSOR=none: charges nothing and allows every registration up to the plan's limit. */
export const noPayments: PaymentProcessor = {
  name: 'none',
  cover: async () => ({ billing: 'active', active_max: Infinity }),
  review: async () => undefined,
  components: [],
  rpcs: [
    implement(PaymentsDefinition, {
      handlePaymentEvent: async () => noProcessor(),
      createCardSession: async () => noProcessor(),
      getBilling: async () => ({
        processor: 'none',
        state: 'active',
        card: undefined,
        card_known: true,
        invoices: [],
        waiting_waba_ids: [],
      }),
    }),
  ],
};
