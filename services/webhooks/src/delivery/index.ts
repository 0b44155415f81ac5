export {
  attemptNow,
  postAttempt,
  postSigned,
  type Attempt,
  type AttemptNowDependencies,
  type Outcome,
  type RecordAttempt,
  type Ways,
} from './attempt';
export { createDestinations, outgoingEvent } from './destination-attempt';
export { Dispatcher } from './dispatcher';
export { holdIntake } from './intake';
export { deliveryKey, eventOfKey } from './receiver-key';
export { MaxRate } from './receiver-limits';
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
  type DeliveryState,
  type OldestDelivery,
  type StoredDelivery,
} from './store';
export { attemptFromRow } from './tracked-delivery';
