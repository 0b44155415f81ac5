export { relyingPartyOf, type RelyingParty } from './relying-party';
export { includesRole, isRole, ROLES, ROLE_SCOPES, type Role } from './roles';
export { sessionName } from './session-name';
