export {
  API_VERSION,
  eventMeta,
  highestSeverity,
  NOTICES,
  type Notice,
  type Severity,
} from './notices';
