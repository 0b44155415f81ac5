export { relyingPartyOf, type RelyingParty } from './relying-party';
export {
  APPROVING_SCOPE,
  holdersOf,
  includesRole,
  isRole,
  mayApprove,
  ROLES,
  ROLE_SCOPES,
  type Role,
} from './roles';
export { sessionName } from './session-name';
