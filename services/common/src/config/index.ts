export { authorities } from './authorities';
export * as fields from './fields';
export type { Field } from './fields';
export { ConfigError, loadConfig, type Config, type Fields, type Loaded } from './load';
export {
  allowsPlaintext,
  isLoopback,
  processIdentities,
  processTls,
  stateFolder,
  type TlsSettings,
} from './tls';
