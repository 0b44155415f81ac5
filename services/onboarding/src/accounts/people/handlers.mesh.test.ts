// People on a real database and a fake clock: invitations, roles, passkeys of a software
// authenticator, and the sessions that end with them.
import { partnerVersionKey } from '@bmg/common/directory';
import type { Handlers } from '@bmg/common/rpc';
import type { PasskeysDefinition, PeopleDefinition } from '@bmg/proto/people';
import type { SettingsDefinition } from '@bmg/proto/settings';
import { createAuthenticator, type Authenticator } from '../../../../../test/testkit/authenticator';
import { calling, type Calling, failureOf, refuses, testCall, useWorld } from '../../../test/world';
import { createCallers } from '../../connect/directory/callers';
import { createKeyHandlers } from '../keys/handlers';
import { createDashboardHandlers } from '../partners/handlers';
import type { Partner } from '../../ground/partners';
import { PASSKEYS } from './store';
import { PEOPLE } from '../../ground/people';
import { createCeremonies } from './ceremonies';
import { createPeopleHandlers } from './handlers';
import { createIssuer, type Identity } from './issuer';
import { createPasskeyHandlers } from './passkey-handlers';

const DAY_S = 86_400;
const ORIGIN = 'https://gateway.test';

const world = useWorld();
let people: Calling<Handlers<PeopleDefinition>>;
let passkeys: Calling<Handlers<PasskeysDefinition>>;
let settings: Calling<Handlers<SettingsDefinition>>;
let partner: Partner;
let partner_id: string;
/** What the issuer says of the log-in. */
let identity: Identity;

beforeEach(async () => {
  const { deps } = world;
  const ceremonies = createCeremonies(deps);
  people = calling(createPeopleHandlers(deps));
  const issuer = {
    ...createIssuer(deps.settings, undefined as never),
    identify: async () => identity,
  };
  passkeys = calling(createPasskeyHandlers({ ...deps, ceremonies, issuer }));
  settings = calling(createDashboardHandlers(deps));
  partner = await world.partner();
  partner_id = partner._id;
});

let invited = 0;
const invite = async (role = 'owner', change: object = {}) => {
  const email = `person${(invited += 1)}@example.com`;
  const request = { partner_id, email, role, ...change };
  const { person, invitation_url } = await people.invitePerson(request);
  const token = invitation_url.split('#')[1] as string;
  return { person_id: person?.person_id as string, token, invitation_url };
};
const hashes = (token: string): string[] => world.deps.peppers.hashes(token);

let sessions = 0;
const newSession = (): string => `session-${(sessions += 1)}`;
const accept = async (token: string, authenticator: Authenticator, name = 'Laptop') => {
  const token_hashes = hashes(token);
  const { options } = await passkeys.startRegistration({ token_hashes });
  const response = authenticator.create(options);
  const session_hash = newSession();
  const given = { token_hashes, response, name, session_hash };
  return { session: await passkeys.acceptInvitation(given), session_hash, given };
};
const logIn = async (authenticator: Authenticator) => {
  const { options } = await passkeys.startLogIn({});
  const session_hash = newSession();
  const given = { response: authenticator.get(options), session_hash };
  return { session: await passkeys.logIn(given), session_hash, given };
};
const useSession = (token_hash: string, enforces_roles = true) =>
  settings.useSession({ token_hash, passive: false, people: enforces_roles });

/** A person who has accepted the invitation. */
async function member(role = 'owner') {
  const authenticator = createAuthenticator(ORIGIN);
  const { person_id, token } = await invite(role);
  const { session_hash } = await accept(token, authenticator);
  return { person_id, authenticator, session_hash };
}

const remove = (person_id: string, change: object = {}) =>
  people.removePerson({ partner_id, person_id, ...change });
const setRole = (person_id: string, role: string, change: object = {}) =>
  people.updatePerson({ partner_id, person_id, role, ...change });

describe('an invitation', () => {
  test('is a link with a token of 256 bits, of which only a keyed hash is stored', async () => {
    const { person_id, token, invitation_url } = await invite('developer');
    expect(invitation_url).toBe(`https://gateway.test/dashboard/invitation#${token}`);
    expect(Buffer.from(token, 'base64url')).toHaveLength(32);
    const stored = await world.mongo.db.collection(PEOPLE).find().toArray();
    expect(JSON.stringify(stored)).not.toContain(token);
    const { people: list, people_max } = await people.listPeople({ partner_id });
    expect([list.map((one) => [one.person_id, one.state]), people_max]).toEqual([
      [[person_id, 'invited']],
      100,
    ]);
  });

  test('opens a session with a passkey, once', async () => {
    const { person_id, token } = await invite('support');
    const authenticator = createAuthenticator(ORIGIN);
    const read = await passkeys.readInvitation({ token_hashes: hashes(token) });
    expect(read).toMatchObject({ partner_name: partner.name, role: 'support' });
    const { session, given } = await accept(token, authenticator);
    expect(session).toMatchObject({
      partner_id,
      person: { person_id, role: 'support', scopes: ['send', 'read'] },
    });
    for (const again of [
      () => passkeys.readInvitation({ token_hashes: hashes(token) }),
      () => passkeys.acceptInvitation({ ...given, session_hash: newSession() }),
      () => accept(token, createAuthenticator(ORIGIN)),
    ]) {
      await refuses(again(), 'UNAUTHORIZED');
    }
    const person = await people.getPerson({ partner_id, person_id });
    expect(person).toMatchObject({ state: 'active', passkeys: 1 });
    expect(person.invitation_expires_at).toBeUndefined();
  });

  test('expires after seven days, and a new link replaces it', async () => {
    const { person_id, token } = await invite();
    const renew = () => people.renewInvitation({ partner_id, person_id });
    const fresh = (await renew()).invitation_url.split('#')[1] as string;
    await refuses(accept(token, createAuthenticator(ORIGIN)), 'UNAUTHORIZED');
    world.passTime(7 * DAY_S - 60);
    await passkeys.readInvitation({ token_hashes: hashes(fresh) });
    world.passTime(61);
    await refuses(accept(fresh, createAuthenticator(ORIGIN)), 'UNAUTHORIZED');
    const last = (await renew()).invitation_url.split('#')[1] as string;
    expect((await accept(last, createAuthenticator(ORIGIN))).session.partner_id).toBe(partner_id);
  });

  test('is not accepted twice at once', async () => {
    const { person_id, token } = await invite();
    const both = await Promise.allSettled(
      [0, 1].map(() => accept(token, createAuthenticator(ORIGIN))),
    );
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect((await people.getPerson({ partner_id, person_id })).passkeys).toBe(1);
    expect(await world.mongo.db.collection(PASSKEYS).countDocuments()).toBe(1);
  });

  test('of one address is made once, however many arrive together', async () => {
    const request = { partner_id, email: 'Twice@Example.com', role: 'support' };
    const all = await Promise.allSettled(
      Array.from({ length: 5 }, () => people.invitePerson(request)),
    );
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const { people: list } = await people.listPeople({ partner_id });
    expect(list.map(({ email }) => email)).toEqual(['twice@example.com']);
  });

  test('is not accepted at a suspended partner', async () => {
    const { token } = await invite();
    await world.deps.partners.change(partner_id, { status: 'suspended' }, new Date());
    await refuses(accept(token, createAuthenticator(ORIGIN)), 'PARTNER_SUSPENDED');
  });
});

describe('who makes a change', () => {
  const keys = () => calling(createKeyHandlers(world.deps));
  const createKey = async (change: object = {}) => {
    const scopes = ['read', 'manage'];
    const request = { partner_id, name: 'Key', scopes, waba_ids: [], addresses: [], ...change };
    return (await keys().createKey(request)).key?.key_id as string;
  };

  test('is named as the inviter, and gives no more than it has', async () => {
    const developer = await member('developer');
    const caller_person_id = developer.person_id;
    const { person_id } = await invite('support', { caller_person_id });
    const { invited_by } = await people.getPerson({ partner_id, person_id });
    expect(invited_by).toMatchObject({ type: 'person', id: caller_person_id });
    for (const refused of [
      () => invite('owner', { caller_person_id }),
      () => invite('billing', { caller_person_id }),
      () => setRole(person_id, 'owner', { caller_person_id }),
      async () => invite('support', { caller_key_id: await createKey() }),
      () => createKey({ scopes: ['billing'], caller_person_id }),
    ]) {
      await refuses(refused(), 'SCOPE_MISSING');
    }
    expect(await createKey({ scopes: ['send'], caller_person_id })).toMatch(/^key_/);
  });

  test('is the operator, who gives every role and is named as the inviter', async () => {
    const caller_is_operator = true;
    const { person_id } = await invite('owner', { caller_is_operator });
    const { invited_by } = await people.getPerson({ partner_id, person_id });
    expect(invited_by).toEqual({ type: 'operator', id: undefined, name: undefined });
    const { role } = await setRole(person_id, 'billing', { caller_is_operator });
    expect(role).toBe('billing');
    await remove(person_id, { caller_is_operator });
    const { person_id: last } = await member('owner');
    await refuses(remove(last, { caller_is_operator }), 'INVALID_FIELD', 'person_id');
  });

  test('is no key that is limited, revoked, or a person who was removed', async () => {
    const scopes = ['send', 'read', 'manage', 'billing'];
    const limited = await createKey({ scopes, addresses: ['203.0.113.7'] });
    await refuses(invite('support', { caller_key_id: limited }), 'KEY_RESTRICTED');
    await refuses(invite('support', { caller_key_id: 'key_none' }), 'INVALID_PARTNER_KEY');
    await refuses(invite('support', { caller_person_id: 'per_none' }), 'UNAUTHORIZED');
  });
});

test('two owners who remove each other at once: one of them stays', async () => {
  const [one, other] = [await member(), await member()];
  const both = await Promise.allSettled([
    remove(one.person_id, { caller_person_id: other.person_id }),
    remove(other.person_id, { caller_person_id: one.person_id }),
  ]);
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  const { people: list } = await people.listPeople({ partner_id });
  expect(list.map(({ role, state }) => [role, state])).toEqual([['owner', 'active']]);
});

describe('a log-in', () => {
  test('opens a session of the person, and each answer is used once', async () => {
    const { person_id, authenticator } = await member('developer');
    const { session, session_hash, given } = await logIn(authenticator);
    expect(session.person).toMatchObject({ person_id, role: 'developer' });
    expect((await useSession(session_hash)).person?.scopes).toEqual(['send', 'read', 'manage']);
    const again = passkeys.logIn({ ...given, session_hash: newSession() });
    await refuses(again, 'UNAUTHORIZED');
  });

  test('is refused late, from another site, without verification, or with an older counter', async () => {
    const { authenticator } = await member();
    await logIn(authenticator);
    const refused = async (attempt: Promise<unknown>) => await refuses(attempt, 'UNAUTHORIZED');

    const { options } = await passkeys.startLogIn({});
    const late = authenticator.get(options);
    world.passTime(301);
    await refused(passkeys.logIn({ response: late, session_hash: newSession() }));

    authenticator.counter = 0;
    await refused(logIn(authenticator));
    authenticator.counter = 10;
    await logIn(authenticator);

    for (const forged of [createAuthenticator('https://evil.test'), createAuthenticator(ORIGIN)]) {
      forged.create({ challenge: 'x', rp: { id: 'gateway.test' }, user: { id: 'x' } });
      await refused(logIn(forged));
    }
    for (const response of [undefined, {}, { id: 7 }, { id: 'x', response: null }]) {
      await refused(passkeys.logIn({ response, session_hash: newSession() }));
    }
  });

  test('with the passkey, but a challenge for something else, is refused', async () => {
    const { person_id, authenticator } = await member();
    const { options } = await passkeys.startRegistration({
      token_hashes: [],
      partner_id,
      person_id,
    });
    const response = authenticator.get(options);
    const attempt = passkeys.logIn({ response, session_hash: newSession() });
    await refuses(attempt, 'UNAUTHORIZED');
  });

  test('needs an authenticator that verified the person, to register too', async () => {
    const { token } = await invite();
    const unverified = createAuthenticator(ORIGIN, 0x01);
    await refuses(accept(token, unverified), 'INVALID_FIELD', 'response');
    expect(await world.mongo.db.collection(PASSKEYS).countDocuments()).toBe(0);
  });
});

describe('passkeys of a person', () => {
  test('are added, named, and removed, but the last one', async () => {
    const { person_id, authenticator } = await member();
    const owner = { partner_id, person_id };
    const second = createAuthenticator(ORIGIN);
    const { options } = await passkeys.startRegistration({ token_hashes: [], ...owner });
    const response = second.create(options);
    const added = await passkeys.addPasskey({ ...owner, response, name: ' Phone ' });
    expect(added).toMatchObject({ name: 'Phone', synced: false });
    const again = passkeys.addPasskey({ ...owner, response, name: 'Phone' });
    await refuses(again, 'INVALID_FIELD');

    const list = async () => (await passkeys.listPasskeys(owner)).passkeys.map(({ name }) => name);
    expect(await list()).toEqual(['Laptop', 'Phone']);
    const { passkey_id } = added;
    await passkeys.renamePasskey({ ...owner, passkey_id, name: 'Old phone' });
    expect(await list()).toEqual(['Laptop', 'Old phone']);
    await logIn(second);
    await passkeys.removePasskey({ ...owner, passkey_id });
    await refuses(logIn(second), 'UNAUTHORIZED');
    await logIn(authenticator);
    const [last] = (await passkeys.listPasskeys(owner)).passkeys;
    const remove_last = passkeys.removePasskey({
      ...owner,
      passkey_id: last?.passkey_id as string,
    });
    expect(await failureOf(remove_last)).toMatchObject({ details: { field: 'passkey_id' } });
  });

  test('are not changed by another person', async () => {
    const [one, other] = [await member(), await member('support')];
    const [{ passkey_id = '' } = {}] = (
      await passkeys.listPasskeys({ partner_id, person_id: one.person_id })
    ).passkeys;
    const as_other = { partner_id, person_id: other.person_id, passkey_id };
    for (const attempt of [
      () => passkeys.renamePasskey({ ...as_other, name: 'Mine' }),
      () => passkeys.removePasskey(as_other),
    ]) {
      await refuses(attempt(), 'NOT_FOUND');
    }
  });
});

describe('a session of a person', () => {
  const over = async (session_hash: string) =>
    await refuses(useSession(session_hash), 'UNAUTHORIZED');

  test('ends when the person is removed, and the passkey with it', async () => {
    await member();
    const { person_id, authenticator, session_hash } = await member();
    await remove(person_id);
    await over(session_hash);
    await refuses(logIn(authenticator), 'UNAUTHORIZED');
    expect(await world.mongo.db.collection(PASSKEYS).countDocuments()).toBe(1);
  });

  test('ends when the role is lowered, and has the new one when it is raised', async () => {
    const owner = await member();
    const { person_id, session_hash } = await member('support');
    await setRole(person_id, 'developer');
    expect((await useSession(session_hash)).person?.role).toBe('developer');
    await setRole(person_id, 'support');
    await over(session_hash);
    expect((await useSession(owner.session_hash)).person?.role).toBe('owner');
  });

  test('is unknown to a gateway that does not enforce roles, and stays', async () => {
    const { session_hash } = await member('billing');
    await refuses(useSession(session_hash, false), 'UNAUTHORIZED');
    expect((await useSession(session_hash)).person?.role).toBe('billing');
  });

  test('is listed and ended with the others of the person, of which there are 20', async () => {
    const owner = await member();
    const { person_id, authenticator, session_hash: first } = await member('support');
    for (let count = 0; count < 20; count += 1) {
      world.passTime(1);
      await logIn(authenticator);
    }
    await over(first);
    const list = async (of?: string) =>
      (await settings.listSessions({ partner_id, token_hash: '', person_id: of })).sessions;
    const own = await list(person_id);
    expect(own).toHaveLength(20);
    expect(await list()).toHaveLength(21);
    const { session_id = '', email } = own[0] ?? {};
    expect(email).toMatch(/@example\.com$/);
    const of_owner = { partner_id, session_id, person_id: owner.person_id };
    await refuses(settings.endSession(of_owner), 'NOT_FOUND');
    await settings.endSession({ partner_id, session_id });
    expect(await list(person_id)).toHaveLength(19);
    await settings.closeAllSessions({ partner_id, person_id });
    expect((await list()).map((one) => one.person_id)).toEqual([owner.person_id]);
  });
});

test('the approval of broadcasts is stored with the partner, and reaches the gateways at once', async () => {
  const { deps } = world;
  const owner = await member('owner');
  const set = (caller_person_id: string, above?: number) =>
    people.setBroadcastApproval({ partner_id, caller_person_id, above });
  const get = () => people.getBroadcastApproval({ partner_id });
  const { all } = createCallers(deps);
  const seen = async () => {
    const [caller] = await all([partner.key_hash], testCall());
    const { approval_above } = await useSession(owner.session_hash);
    return [(caller as { approval_above?: number }).approval_above, approval_above];
  };
  expect(await get()).toEqual({ above: undefined, approvers: 1 });
  await refuses(set(owner.person_id, 5), 'INVALID_FIELD', 'above');
  const developer = await member('developer');
  await refuses(set(developer.person_id, 5), 'PERSON_REQUIRED');
  expect(await seen()).toEqual([undefined, undefined]);
  const bumped = deps.bumped.length;
  expect(await set(owner.person_id, 5)).toEqual({ above: 5, approvers: 2 });
  expect(deps.bumped.slice(bumped)).toEqual([partnerVersionKey(partner_id)]);
  expect(await get()).toEqual({ above: 5, approvers: 2 });
  expect(await seen()).toEqual([5, 5]);
  await remove(developer.person_id);
  expect(await set(owner.person_id)).toEqual({ above: undefined, approvers: 1 });
  expect(await seen()).toEqual([undefined, undefined]);
});

describe('the first log-in with the issuer', () => {
  const logInAs = async (email: string, token?: string, subject = 's1') => {
    identity = { issuer: 'https://issuer.example', subject, email, authenticated_at: null };
    const token_hashes = token === undefined ? [] : hashes(token);
    const given = { query: '', session_hash: newSession(), token_hashes };
    return passkeys.logInWithIssuer(given);
  };
  const inviteBoth = async () => {
    const other = await world.partner();
    const email = 'ada@example.com';
    const own = await invite('owner', { email });
    const foreign = await invite('owner', { email, partner_id: other._id });
    return { email, own, foreign, other };
  };
  const REFUSED = { code: 'UNAUTHORIZED' };

  test('is neither blocked nor captured by the invitation of another partner', async () => {
    const { email, own } = await inviteBoth();
    await expect(logInAs(email)).rejects.toMatchObject({ details: { reason: 'unknown_person' } });
    const session = await logInAs(email, own.token);
    expect(session).toMatchObject({ partner_id, person: { person_id: own.person_id } });
    expect((await logInAs('renamed@example.com')).partner_id).toBe(partner_id);
  });

  test('accepts each invitation by its own link, and later opens the one used last', async () => {
    const { email, own, foreign, other } = await inviteBoth();
    await logInAs(email, own.token);
    world.passTime(60);
    expect((await logInAs(email, foreign.token)).partner_id).toBe(other._id);
    world.passTime(60);
    expect((await logInAs(email)).partner_id).toBe(other._id);
  });

  test('needs the invited address, verified, and a link that is open', async () => {
    const { email, own } = await inviteBoth();
    const isVerified = async () => {
      const { person_id } = own;
      const person = await people.getPerson({ partner_id, person_id });
      return person.email_verified;
    };
    await expect(logInAs('eve@example.com', own.token)).rejects.toMatchObject({
      ...REFUSED,
      details: { reason: 'other_address' },
    });
    await expect(logInAs(null as never, own.token)).rejects.toMatchObject(REFUSED);
    expect(await isVerified()).toBe(false);
    await logInAs(email, own.token);
    expect(await isVerified()).toBe(true);
    await expect(logInAs(email, own.token, 's2')).rejects.toMatchObject(REFUSED);
  });
});
