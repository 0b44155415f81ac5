export { checkReceiver, TESTS, type CheckDependencies } from './check-receiver';
export { createHealthRecorder, type HealthRecorder } from './health';
export {
  createReceiverHealth,
  ENDPOINT_HEALTH,
  ENDPOINT_HOURS,
  endpointHealthIndexes,
  endpointHourIndexes,
  type ReceiverHealth,
} from './store';
