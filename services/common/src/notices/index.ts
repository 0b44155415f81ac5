export {
  API_VERSION,
  eventMeta,
  highestSeverity,
  NOTICES,
  PARTNER_SEVERITIES,
  type Notice,
  type PartnerSeverity,
  type Severity,
} from './notices';
