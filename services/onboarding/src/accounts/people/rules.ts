// The rules for people: their roles, changes and their callers, and invitations. Pure functions
// of a partner's people: each returns them as they are afterwards, or throws.
import { ApiError, invalidField, limitReached, missingFields } from '@bmg/common/errors';
import type { KeyScope } from '@bmg/common/keys';
import { includesRole, mayApprove, ROLE_SCOPES, ROLES, type Role } from '@bmg/common/people';
import type { Changed, Person } from '../../ground/people';
import { noSuch, orNotFound } from '../../ground/insert';
import { checkOneOf, checkText } from '../../ground/texts';

/** Bounds the people of one partner. */
export const PEOPLE_MAX = 100;
/** Bounds the passkeys of one person. */
export const PASSKEYS_MAX = 10;
export const INVITATION_MS = 7 * 86_400_000;
const NAME_MAX = 100;

export function checkRole(text: string): Role {
  if (text === '') throw missingFields(['role']);
  return checkOneOf('role', text, ROLES);
}

export const checkPasskeyName = (text: string): string => checkText('name', text, NAME_MAX);

/** Throws SCOPE_MISSING unless the role allows nothing that its giver may not do. */
export function checkMayGive(scopes: readonly KeyScope[], role: Role): void {
  const scope = ROLE_SCOPES[role].find((one) => !scopes.includes(one));
  if (!scope) return;
  throw new ApiError(
    'SCOPE_MISSING',
    `the role ${role} has the scope ${scope}, which the caller does not have`,
    { details: { scope } },
  );
}

const personIn = (people: readonly Person[], person_id: string): Person =>
  orNotFound(
    people.find((one) => one.person_id === person_id),
    'person',
  );

const replaced = (people: readonly Person[], person: Person): Changed<Person> => ({
  people: people.map((one) => (one.person_id === person.person_id ? person : one)),
  result: person,
});

export function withInvited(people: readonly Person[], person: Person): Changed<Person> {
  if (people.some(({ email }) => email === person.email)) {
    throw invalidField('email', 'is the address of a person who is already invited or active');
  }
  if (people.length >= PEOPLE_MAX) {
    throw limitReached(PEOPLE_MAX, 'people, the most that a partner may have: remove one first');
  }
  return { people: [...people, person], result: person };
}

const isActiveOwner = ({ role, state }: Person): boolean => role === 'owner' && state === 'active';

/** A partner that has an owner keeps one. */
function checkOwnerLeft(before: readonly Person[], after: readonly Person[], field: string): void {
  if (!before.some(isActiveOwner) || after.some(isActiveOwner)) return;
  throw invalidField(field, 'is that of the last owner: make another active person an owner first');
}

/** One creates a broadcast, another approves it. */
const APPROVERS_MIN = 2;
/** No broadcast has more contacts. */
const APPROVAL_ABOVE_MAX = 10_000;

/** How many people may approve broadcasts. */
export const approversIn = (people: readonly Person[]): number =>
  people.filter(({ role, state }) => state === 'active' && mayApprove(role)).length;

/**
 * Only an owner switches approval on or off: a key that leaks, or a developer, must not. Throws
 * naming `above` if fewer than two people could approve.
 */
export function checkApprovalSetting(
  people: readonly Person[],
  { person_id, above }: { person_id: string | undefined; above: number | null },
): void {
  const person = people.find((one) => one.person_id === person_id);
  if (!person || !isActiveOwner(person)) {
    throw new ApiError(
      'PERSON_REQUIRED',
      'only a person with the role owner, signed in to the console, changes this setting',
      { details: { roles: ['owner'] } },
    );
  }
  if (above === null) return;
  if (!Number.isInteger(above) || above < 1 || above > APPROVAL_ABOVE_MAX) {
    throw invalidField('above', `must be a whole number from 1 to ${APPROVAL_ABOVE_MAX}, or null`);
  }
  if (approversIn(people) >= APPROVERS_MIN) return;
  throw invalidField(
    'above',
    'needs two active people with the role owner or developer: one creates a broadcast, another approves it',
  );
}

/** `is_lower`: the new role lacks something that the one before allowed. */
export function withRole(
  people: readonly Person[],
  given: { person_id: string; role: Role; scopes: readonly KeyScope[]; at: Date },
): Changed<{ person: Person; is_lower: boolean }> {
  const before = personIn(people, given.person_id);
  checkMayGive(given.scopes, before.role);
  checkMayGive(given.scopes, given.role);
  const person = { ...before, role: given.role, updated_at: given.at };
  const changed = replaced(people, person);
  checkOwnerLeft(people, changed.people, 'role');
  const is_lower = !includesRole(given.role, before.role);
  return { people: changed.people, result: { person, is_lower } };
}

export function without(
  people: readonly Person[],
  given: { person_id: string; scopes: readonly KeyScope[] },
): Changed<Person> {
  const person = personIn(people, given.person_id);
  checkMayGive(given.scopes, person.role);
  const left = people.filter((one) => one !== person);
  checkOwnerLeft(people, left, 'person_id');
  return { people: left, result: person };
}

type Invitation = NonNullable<Person['invitation']>;
type PersonIdentity = NonNullable<Person['identity']>;

/**
 * An invitation signs in as its person: only the partner key gets one for a person who is active,
 * and has lost all passkeys.
 */
export function withRenewed(
  people: readonly Person[],
  given: {
    person_id: string;
    scopes: readonly KeyScope[];
    is_partner: boolean;
    invitation: Invitation;
    at: Date;
  },
): Changed<Person> {
  const person = personIn(people, given.person_id);
  checkMayGive(given.scopes, person.role);
  if (person.state === 'active' && !given.is_partner) {
    throw new ApiError(
      'KEY_RESTRICTED',
      'this person is active: only the partner key makes another invitation',
    );
  }
  return replaced(people, { ...person, invitation: given.invitation, updated_at: given.at });
}

/** The invitation of a person; UNAUTHORIZED if it was used, replaced or has expired. */
export function openInvitation(
  person: Person | undefined,
  token_hashes: readonly string[],
  now: Date,
): Invitation {
  const invitation = person?.invitation;
  if (invitation && token_hashes.includes(invitation.token_hash) && invitation.expires_at > now) {
    return invitation;
  }
  throw new ApiError(
    'UNAUTHORIZED',
    'this invitation was used, replaced or has expired: ask for a new one',
  );
}

/** The person is active from now on, and the invitation is used. */
export function withAccepted(
  people: readonly Person[],
  given: { person_id: string; token_hashes: readonly string[]; passkey_id: string; at: Date },
): Changed<Person> {
  const person = people.find(({ person_id }) => person_id === given.person_id);
  openInvitation(person, given.token_hashes, given.at);
  return withPasskey(
    people.map((one) =>
      one === person
        ? { ...one, state: 'active' as const, invitation: null, last_login_at: given.at }
        : one,
    ),
    given,
  );
}

export function withPasskey(
  people: readonly Person[],
  { person_id, passkey_id, at }: { person_id: string; passkey_id: string; at: Date },
): Changed<Person> {
  const person = personIn(people, person_id);
  if (person.passkey_ids.includes(passkey_id)) {
    throw invalidField('response', 'is of a passkey that is registered already');
  }
  if (person.passkey_ids.length >= PASSKEYS_MAX) {
    throw limitReached(PASSKEYS_MAX, 'passkeys, the most that a person may have: remove one first');
  }
  const passkey_ids = [...person.passkey_ids, passkey_id];
  return replaced(people, { ...person, passkey_ids, passkey_added_at: at, updated_at: at });
}

/** The last passkey stays unless there is an issuer: the person could not sign in any more. */
export function withoutPasskey(
  people: readonly Person[],
  given: { person_id: string; passkey_id: string; has_issuer: boolean; at: Date },
): Changed<Person> {
  const { passkey_id, at } = given;
  const person = personIn(people, given.person_id);
  if (!person.passkey_ids.includes(passkey_id)) throw noSuch('passkey');
  if (person.passkey_ids.length === 1 && !given.has_issuer) {
    throw invalidField('passkey_id', 'is that of the last passkey: add another one first');
  }
  const passkey_ids = person.passkey_ids.filter((one) => one !== passkey_id);
  return replaced(people, { ...person, passkey_ids, updated_at: at });
}

/** A person who signs in with a passkey that was not removed meanwhile. */
export function withLogIn(
  people: readonly Person[],
  { person_id, at }: { person_id: string; at: Date },
  isAllowed: (person: Person) => boolean,
): Changed<Person> {
  const person = people.find((one) => one.person_id === person_id);
  if (person?.state !== 'active' || !isAllowed(person)) throw unknownPerson();
  return replaced(people, { ...person, last_login_at: at });
}

/** Does not say which is unknown: the passkey, the person or the partner. */
export const unknownPerson = (): ApiError =>
  new ApiError('UNAUTHORIZED', 'this passkey is not known here: it or its person was removed');

/**
 * A person who signs in with the operator's issuer: the first time with the link of the invitation,
 * which is used then, afterwards by the identity.
 */
export function withIdentity(
  people: readonly Person[],
  given: {
    person_id: string;
    identity: PersonIdentity;
    token_hashes: readonly string[];
    at: Date;
  },
): Changed<Person> {
  const { person_id, identity, token_hashes, at } = given;
  const person = people.find((one) => one.person_id === person_id);
  const own = person?.identity;
  if (!own) openInvitation(person, token_hashes, at);
  const is_other = own && (own.issuer !== identity.issuer || own.subject !== identity.subject);
  if (!person || is_other) throw unknownPerson();
  const state = 'active' as const;
  return replaced(people, { ...person, state, identity, invitation: null, last_login_at: at });
}
