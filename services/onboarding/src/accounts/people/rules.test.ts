import { KEY_SCOPES } from '@bmg/common/keys';
import { ROLE_SCOPES, ROLES, type Role } from '@bmg/common/people';
import { fieldOf, refusal } from '../../../test/refusal';
import type { Person } from '../../ground/people';
import {
  approversIn,
  checkApprovalSetting,
  checkMayGive,
  checkPasskeyName,
  checkRole,
  openInvitation,
  PASSKEYS_MAX,
  PEOPLE_MAX,
  withAccepted,
  withIdentity,
  withInvited,
  withLogIn,
  without,
  withoutPasskey,
  withPasskey,
  withRenewed,
  withRole,
} from './rules';

const NOW = new Date('2026-09-01T12:00:00Z');
const LATER = new Date('2026-09-08T12:00:00Z');

const aPerson = (given: Partial<Person> = {}): Person => ({
  person_id: 'per_1',
  email: 'ada@example.com',
  role: 'owner',
  state: 'active',
  invited_by: { type: 'partner_key', id: null, name: null },
  invitation: null,
  passkey_ids: ['a'],
  identity: null,
  last_login_at: null,
  created_at: NOW,
  updated_at: NOW,
  ...given,
});
const other = (given: Partial<Person> = {}): Person =>
  aPerson({ person_id: 'per_2', email: 'grace@example.com', ...given });

test('a role is one of the four', () => {
  expect(checkRole('support')).toBe('support');
  expect(() => checkRole('')).toThrow(refusal('MISSING_FIELDS'));
  expect(() => checkRole('admin')).toThrow(refusal('INVALID_FIELD', { field: 'role' }));
});

test('a passkey has a name', () => {
  expect(checkPasskeyName(' Laptop ')).toBe('Laptop');
  expect(() => checkPasskeyName(' ')).toThrow(refusal('MISSING_FIELDS'));
  for (const name of ['a\u0000', 'x'.repeat(101)]) {
    expect(() => checkPasskeyName(name)).toThrow(refusal('INVALID_FIELD', { field: 'name' }));
  }
});

describe('who may give a role', () => {
  const rolesGivenBy = (role: Role): Role[] =>
    ROLES.filter((one) => fieldOf(() => checkMayGive(ROLE_SCOPES[role], one)) === 'none');

  test.each<[Role, Role[]]>([
    ['owner', ['owner', 'developer', 'support', 'billing']],
    ['developer', ['developer', 'support']],
  ])('%s: %j', (role, roles) => expect(rolesGivenBy(role)).toEqual(roles));

  test('the refusal names the scope', () => {
    const give = () => checkMayGive(['send', 'read', 'manage'], 'owner');
    expect(give).toThrow(refusal('SCOPE_MISSING', { scope: 'billing' }));
  });

  test('nor may it change or remove a person who may do more', () => {
    const people = [aPerson(), other({ role: 'support' })];
    const scopes = ROLE_SCOPES.developer;
    const lower = () => withRole(people, { person_id: 'per_1', role: 'support', scopes, at: NOW });
    expect(lower).toThrow(refusal('SCOPE_MISSING'));
    const raise = () => withRole(people, { person_id: 'per_2', role: 'owner', scopes, at: NOW });
    expect(raise).toThrow(refusal('SCOPE_MISSING'));
    const remove = () => without(people, { person_id: 'per_1', scopes });
    expect(remove).toThrow(refusal('SCOPE_MISSING'));
    expect(without(people, { person_id: 'per_2', scopes }).people).toHaveLength(1);
  });
});

describe('an invitation', () => {
  test('is refused for an address that is in use, and above the bound', () => {
    const again = () => withInvited([aPerson()], other({ email: 'ada@example.com' }));
    expect(again).toThrow(refusal('INVALID_FIELD', { field: 'email' }));
    const full = Array.from({ length: PEOPLE_MAX }, (_none, at) =>
      aPerson({ person_id: `per_${at}`, email: `p${at}@example.com` }),
    );
    expect(() => withInvited(full, other())).toThrow(
      refusal('LIMIT_REACHED', { limit: PEOPLE_MAX }),
    );
  });

  const invited = other({
    state: 'invited',
    passkey_ids: [],
    invitation: { token_hash: 'h', expires_at: LATER },
  });

  test('is open until it expires, for its own token', () => {
    expect(openInvitation(invited, ['x', 'h'], NOW)).toBe(invited.invitation);
    for (const [person, hashes, at] of [
      [undefined, ['h'], NOW],
      [aPerson(), ['h'], NOW],
      [invited, ['x'], NOW],
      [invited, ['h'], LATER],
    ] as const) {
      expect(() => openInvitation(person, hashes, at)).toThrow(refusal('UNAUTHORIZED'));
    }
  });

  test('makes its person active once', () => {
    const accept = { person_id: 'per_2', token_hashes: ['h'], passkey_id: 'k', at: NOW };
    const { people, result } = withAccepted([aPerson(), invited], accept);
    expect(result).toMatchObject({ state: 'active', invitation: null, passkey_ids: ['k'] });
    expect(() => withAccepted(people, accept)).toThrow(refusal('UNAUTHORIZED'));
  });

  test('of an active person is made by the partner key only', () => {
    const invitation = { token_hash: 'n', expires_at: LATER };
    const renewal = { person_id: 'per_1', scopes: KEY_SCOPES, invitation, at: NOW };
    const people = [aPerson(), invited];
    expect(() => withRenewed(people, { ...renewal, is_partner: false })).toThrow(
      refusal('KEY_RESTRICTED'),
    );
    expect(withRenewed(people, { ...renewal, is_partner: true }).result).toMatchObject({
      state: 'active',
      invitation,
    });
    const of_invited = { ...renewal, person_id: 'per_2', is_partner: false };
    expect(withRenewed(people, of_invited).result.invitation).toBe(invitation);
  });
});

describe('the last active owner', () => {
  const scopes = KEY_SCOPES;
  const others = [other({ role: 'developer' }), other({ person_id: 'per_3', state: 'invited' })];

  test('is neither lowered nor removed', () => {
    const people = [aPerson(), ...others];
    const lower = () => withRole(people, { person_id: 'per_1', role: 'billing', scopes, at: NOW });
    expect(lower).toThrow(refusal('INVALID_FIELD', { field: 'role' }));
    const remove = () => without(people, { person_id: 'per_1', scopes });
    expect(remove).toThrow(refusal('INVALID_FIELD', { field: 'person_id' }));
  });

  test('leaves once there is another', () => {
    const people = [aPerson(), other()];
    expect(without(people, { person_id: 'per_1', scopes }).people).toEqual([other()]);
    const lowered = withRole(people, { person_id: 'per_1', role: 'support', scopes, at: NOW });
    expect(lowered.result).toMatchObject({ person: { role: 'support' }, is_lower: true });
  });

  test('does not keep an invited owner from being removed', () => {
    const people = [other({ state: 'invited' })];
    expect(without(people, { person_id: 'per_2', scopes }).people).toEqual([]);
  });
});

test('a role that allows other things is lower too', () => {
  const people = [aPerson(), other({ role: 'support' })];
  const change = (role: Role) =>
    withRole(people, { person_id: 'per_2', role, scopes: KEY_SCOPES, at: NOW }).result.is_lower;
  expect([change('developer'), change('support'), change('billing')]).toEqual([false, false, true]);
});

describe('passkeys', () => {
  const of = { person_id: 'per_1', has_issuer: false, at: NOW };

  test('are bounded, each once, and the last one stays', () => {
    const { people } = withPasskey([aPerson()], { ...of, passkey_id: 'b' });
    expect(people[0]).toMatchObject({ passkey_ids: ['a', 'b'], passkey_added_at: NOW });
    expect(() => withPasskey(people, { ...of, passkey_id: 'b' })).toThrow(
      refusal('INVALID_FIELD', { field: 'response' }),
    );
    const full = [aPerson({ passkey_ids: Array.from({ length: PASSKEYS_MAX }, String) })];
    expect(() => withPasskey(full, { ...of, passkey_id: 'b' })).toThrow(refusal('LIMIT_REACHED'));
    const left = withoutPasskey(people, { ...of, passkey_id: 'a' });
    expect(left.result.passkey_ids).toEqual(['b']);
    expect(() => withoutPasskey(left.people, { ...of, passkey_id: 'b' })).toThrow(
      refusal('INVALID_FIELD', { field: 'passkey_id' }),
    );
    const last = { ...of, passkey_id: 'b', has_issuer: true };
    expect(withoutPasskey(left.people, last).result.passkey_ids).toEqual([]);
    expect(() => withoutPasskey(people, { ...of, passkey_id: 'c' })).toThrow(refusal('NOT_FOUND'));
  });

  test('sign in their person while it is active and has them', () => {
    const has = ({ passkey_ids }: Person): boolean => passkey_ids.includes('a');
    expect(withLogIn([aPerson()], of, has).result.last_login_at).toBe(NOW);
    for (const people of [[], [aPerson({ state: 'invited' })], [aPerson({ passkey_ids: ['b'] })]]) {
      expect(() => withLogIn(people, of, has)).toThrow(refusal('UNAUTHORIZED'));
    }
  });
});

describe('an identity at the issuer', () => {
  const identity = { issuer: 'https://issuer.example', subject: 's1' };
  const invited = (expires_at = LATER) =>
    aPerson({ state: 'invited', invitation: { token_hash: 'h', expires_at } });
  const use = (person: Person, of = identity, token_hashes = ['h']) =>
    withIdentity([person], { person_id: person.person_id, identity: of, token_hashes, at: NOW })
      .result;

  test('belongs to its person from the first log-in on', () => {
    const person = use(invited());
    expect(person).toMatchObject({ identity, last_login_at: NOW });
    expect(use(person, identity, [])).toMatchObject({ identity });
    for (const other of [
      { ...identity, subject: 's2' },
      { ...identity, issuer: 'https://other.example' },
    ]) {
      expect(() => use(person, other)).toThrow(refusal('UNAUTHORIZED'));
    }
  });

  test('accepts an invitation by its link while it is open', () => {
    expect(use(invited())).toMatchObject({ state: 'active', invitation: null, identity });
    expect(() => use(invited(NOW))).toThrow(refusal('UNAUTHORIZED'));
    for (const hashes of [[], ['other']]) {
      expect(() => use(invited(), identity, hashes)).toThrow(refusal('UNAUTHORIZED'));
      expect(() => use(aPerson(), identity, hashes)).toThrow(refusal('UNAUTHORIZED'));
    }
  });
});

describe('the approval of broadcasts', () => {
  const developer = other({ role: 'developer' });
  const set = (people: Person[], above: number | null, person_id?: string) => () =>
    checkApprovalSetting(people, { person_id, above });

  test('counts active owners and developers', () => {
    const people = [
      aPerson(),
      developer,
      other({ role: 'support' }),
      other({ role: 'billing' }),
      other({ role: 'developer', state: 'invited' }),
    ];
    expect(approversIn(people)).toBe(2);
  });

  test('is switched on and off by an active owner only', () => {
    const people = [aPerson(), developer, other({ person_id: 'per_3', state: 'invited' })];
    for (const above of [5, null]) {
      expect(set(people, above, 'per_1')).not.toThrow();
      for (const caller of [undefined, 'per_2', 'per_3', 'per_9']) {
        expect(set(people, above, caller)).toThrow(
          refusal('PERSON_REQUIRED', { roles: ['owner'] }),
        );
      }
    }
  });

  test('needs two people who may approve, to be switched on', () => {
    for (const second of [other({ role: 'support' }), other({ state: 'invited' })]) {
      expect(set([aPerson(), second], 5, 'per_1')).toThrow(
        refusal('INVALID_FIELD', { field: 'above' }),
      );
      expect(set([aPerson(), second], null, 'per_1')).not.toThrow();
    }
  });

  test.each([0, -1, 1.5, 10_001, Number.NaN])('above %d is refused', (above) => {
    expect(set([aPerson(), developer], above, 'per_1')).toThrow(
      refusal('INVALID_FIELD', { field: 'above' }),
    );
  });
});
