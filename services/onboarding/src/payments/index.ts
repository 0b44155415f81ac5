import { noPayments } from './none';
import type { PaymentProcessor } from './payments';

export type { Cover, PaymentProcessor, SlotPurchase } from './payments';

const PROCESSORS = { none: noPayments } satisfies Record<string, PaymentProcessor>;

export type ProcessorName = keyof typeof PROCESSORS;
export const PROCESSOR_NAMES = Object.keys(PROCESSORS) as ProcessorName[];

export const choosePayments = (name: ProcessorName): PaymentProcessor => PROCESSORS[name];
