export { checkReceiver, TESTS, type CheckDependencies } from './check-receiver';
export { createHealthRecorder, type HealthRecorder } from './health';
export { createReceiverHealth, healthIndexes, type ReceiverHealth } from './store';
