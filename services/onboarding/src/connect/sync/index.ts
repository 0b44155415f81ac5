export {
  dataSyncOf,
  openSyncWindow,
  syncCoexistence,
  syncFacts,
  WINDOW_MS,
} from './coexistence-sync';
