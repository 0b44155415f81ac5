export { createCredentials, refusalToSend, type Credential, type Credentials } from './credentials';
export {
  INACTIVE_PARTNER_CODES,
  PARTNER_STATUSES,
  refuseUnlessActive,
  type PartnerStatus,
} from './partner-status';
export { fromRefusal, invalidKey, noSuchPartner, notRegistered, toRefusal } from './refusals';
export {
  CACHE_LIFE_AWAY_MS,
  createVersionedCache,
  loadOne,
  type Load,
  type VersionedCache,
} from './versioned-cache';
export {
  CACHE_LIFE_ALONE_MS,
  CACHE_LIFE_MS,
  createVersions,
  partnerVersionKey,
  wabaVersionKey,
  type Versions,
} from './versions';
