export { type WaitingLimit, waitingRefusal } from './limits';
export { type ValidRequest, validateRequest } from './validate-request';
