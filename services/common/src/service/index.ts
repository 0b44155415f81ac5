export {
  defineService,
  groupOf,
  STATE_TOPICS,
  type DefinedService,
  type Kit,
} from './define-service';
export { purge, type Feature } from './feature';
