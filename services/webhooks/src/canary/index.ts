export { createCanary, type CanaryReceiver } from './canary';
