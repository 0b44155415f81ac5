// The people of a partner: what their roles allow, the site of their passkeys, and the names of
// their sessions.
import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import { KEY_SCOPES, type KeyScope } from '../keys';

export const ROLES = ['owner', 'developer', 'support', 'billing'] as const;
export type Role = (typeof ROLES)[number];

export const ROLE_SCOPES: Readonly<Record<Role, readonly KeyScope[]>> = {
  owner: KEY_SCOPES,
  developer: ['send', 'read', 'manage'],
  support: ['send', 'read'],
  billing: ['billing'],
};

/** The roles that have a scope. */
export const holdersOf = (scope: KeyScope): Role[] =>
  ROLES.filter((role) => ROLE_SCOPES[role].includes(scope));

export const isRole = (text: string): text is Role => (ROLES as readonly string[]).includes(text);

/**
 * The scope that approves broadcasts. Not `send`: with it support, who may create broadcasts, would
 * also approve those of each other.
 */
export const APPROVING_SCOPE: KeyScope = 'manage';

export const mayApprove = (role: Role): boolean => ROLE_SCOPES[role].includes(APPROVING_SCOPE);

/** True if the first role allows everything that the second one allows. */
export const includesRole = (role: Role, other: Role): boolean =>
  ROLE_SCOPES[other].every((scope) => ROLE_SCOPES[role].includes(scope));

/** The site to which passkeys belong. */
export interface RelyingParty {
  /** The host name, to which browsers bind a passkey. */
  id: string;
  origin: string;
}

/** Undefined if browsers refuse passkeys: without a host name, or HTTPS unless localhost. */
export function relyingPartyOf(public_url: string): RelyingParty | undefined {
  const { protocol, hostname, origin } = new URL(public_url);
  if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) return undefined;
  const is_local = hostname === 'localhost' || hostname.endsWith('.localhost');
  return protocol === 'https:' || is_local ? { id: hostname, origin } : undefined;
}

const NAME_LENGTH = 16;

/** Names a console session. The hash under which it is stored does not follow from the name. */
export const sessionName = (token_hash: string): string =>
  `ses_${createHash('sha256').update(token_hash).digest('hex').slice(0, NAME_LENGTH)}`;
