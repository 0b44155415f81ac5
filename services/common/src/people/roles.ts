// What the role of a person allows: the scopes of API keys.
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
