export {
  postAttempt,
  postSigned,
  type Attempt,
  type Outcome,
  type RecordAttempt,
  type Ways,
} from './attempt';
export { attemptNow, type AttemptNowDependencies } from './attempt-now';
export { createDestinations, outgoingEvent } from './destination-attempt';
export { Dispatcher } from './dispatcher';
export { holdIntake } from './hold-intake';
export { MaxRate } from './max-rate';
export { deliveryKey, eventOfKey } from './receiver-key';
export {
  createReceivers,
  maskUrl,
  VERSION_TTL_MS,
  type Receiver,
  type Receivers,
} from './receivers';
export { createRequeueChannel, type RequeueChannel } from './requeue-channel';
export { deliveryMachine, nextDelayMs, type DeliveryStatus } from './retry-schedule';
export { createSeen } from './seen';
export {
  createDeliveries,
  DELIVERIES,
  deliveryIndexes,
  type Cursor,
  type Deliveries,
  type OldestDelivery,
  type StoredDelivery,
} from './store';
export { attemptFromRow } from './tracked-delivery';
