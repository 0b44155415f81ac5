export {
  dataSyncOf,
  openSyncWindow,
  syncCoexistence,
  syncFacts,
  WINDOW_MS,
} from './coexistence-sync';
export * from './store';
export { createSync } from './feature';
