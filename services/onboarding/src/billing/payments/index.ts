export { choosePaymentProcessor, PROCESSOR_NAMES } from './choose-processor';
export { type PlaceDependencies, refuseUnlessPaid, takePlace } from './place';
export type { PaymentProcessor } from './processor';
export * from './store/billing-accounts';
export * from './store/payment-events';
export * from './store/slot-charges';
