// RPC handlers of signing in: an invitation that is accepted with a passkey, log-ins with a passkey
// and with the operator's issuer, and the passkeys of a person.
import { refuseUnlessActive } from '@bmg/common/directory';
import { type ApiError, invalidField } from '@bmg/common/errors';
import type { Handlers } from '@bmg/common/rpc';
import { Passkey, type PasskeysDefinition } from '@bmg/proto/people';
import type { Session } from '@bmg/proto/settings';
import { newSession, sessionMessage } from '../sessions';
import { checkEmail } from '../../ground/contacts';
import { orNotFound } from '../../ground/insert';
import { messageOf } from '../../ground/message';
import type { Partner } from '../../ground/partners';
import type { PasskeyRecord, PersonRef } from './store';
import type { Changed, FoundPerson, Person } from '../../ground/people';
import type { Ceremonies } from './ceremonies';
import { issuerRefusal, type Flow, type Identity, type Issuer } from './issuer';
import {
  checkPasskeyName,
  openInvitation,
  unknownPerson,
  withAccepted,
  withIdentity,
  withLogIn,
  withoutPasskey,
  withPasskey,
} from './rules';
import type { Dependencies } from '../../dependencies';

type SignInDependencies = Dependencies & { ceremonies: Ceremonies; issuer: Issuer };

/** Bounds the sessions of one person: a further log-in ends the oldest one. */
const SESSIONS_MAX = 20;

export function createPasskeyHandlers(deps: SignInDependencies): Handlers<PasskeysDefinition> {
  const { people, passkeys, ceremonies, issuer, now, log } = deps;
  return {
    async readInvitation({ token_hashes }) {
      const { partner, person, invitation } = await findInvited(deps, token_hashes);
      const { email, role } = person;
      return { partner_name: partner.name, email, role, expires_at: invitation.expires_at };
    },
    async startRegistration({ token_hashes, partner_id = '', person_id = '' }) {
      const person =
        token_hashes.length > 0
          ? (await findInvited(deps, token_hashes)).person
          : await personOf(deps, { partner_id, person_id });
      return { options: await ceremonies.registrationOptions(person) };
    },
    async acceptInvitation({ token_hashes, session_hash, ...given }) {
      const { partner, person: invited } = await findInvited(deps, token_hashes);
      const { person_id } = invited;
      const passkey = { partner_id: partner._id, person: invited, ...given };
      const { person } = await register(deps, passkey, (list, passkey_id, at) =>
        withAccepted(list, { person_id, token_hashes, passkey_id, at }),
      );
      log.info({ partner_id: partner._id, person_id }, 'a person accepted an invitation');
      return openSession(deps, partner, person, session_hash);
    },
    async startLogIn() {
      return { options: await ceremonies.logInOptions() };
    },
    async logIn({ response = {}, session_hash }) {
      const passkey = await passkeys.find(String(response['id']));
      if (!passkey) throw unknownPerson();
      const counter = await ceremonies.verifyLogIn(passkey, response);
      const { partner_id, person_id, _id } = passkey;
      const partner = await activePartner(deps, partner_id);
      const at = now();
      // Two answers with one counter: one of them is from a copy of the passkey.
      if (!(await passkeys.noteUse(passkey, counter, at))) throw unknownPerson();
      const person = await people.change(partner_id, (list) =>
        withLogIn(list, { person_id, at }, ({ passkey_ids }) => passkey_ids.includes(_id)),
      );
      return openSession(deps, partner, person, session_hash);
    },
    async startIssuerLogIn({ flow, fresh }) {
      return { url: await issuer.authorizationUrl(flow as Flow, fresh) };
    },
    async logInWithIssuer({ flow, query, session_hash, token_hashes }) {
      const identity = await issuer.identify(flow as Flow, query);
      const { partner_id, person: found } = await findIdentified(deps, identity, token_hashes);
      const { person_id } = found;
      const partner = await activePartner(deps, partner_id);
      const { issuer: iss, subject, authenticated_at } = identity;
      const of = { person_id, identity: { issuer: iss, subject }, token_hashes };
      const person = await people.change(partner_id, (list) =>
        withIdentity(list, { ...of, at: now() }),
      );
      return openSession(deps, partner, person, session_hash, authenticated_at);
    },
    ...passkeyHandlers(deps),
  };
}

const passkeyHandlers = (deps: SignInDependencies) => {
  const { people, passkeys, issuer, now, log } = deps;
  return {
    async listPasskeys(request) {
      const { passkey_ids } = await personOf(deps, request);
      return { passkeys: (await passkeys.of(request, passkey_ids)).map(passkeyMessage) };
    },
    async addPasskey({ partner_id, person_id, ...given }) {
      const person = await personOf(deps, { partner_id, person_id });
      const added = { partner_id, person, ...given };
      const { passkey } = await register(deps, added, (list, passkey_id, at) =>
        withPasskey(list, { person_id, passkey_id, at }),
      );
      return passkeyMessage(passkey);
    },
    async renamePasskey({ passkey_id, name, ...owner }) {
      const renamed = await passkeys.rename(owner, passkey_id, checkPasskeyName(name));
      return passkeyMessage(orNotFound(renamed, 'passkey'));
    },
    async removePasskey({ passkey_id, ...owner }) {
      const { partner_id, person_id } = owner;
      await people.change(partner_id, (list) =>
        withoutPasskey(list, {
          person_id,
          passkey_id,
          has_issuer: issuer.isConfigured,
          at: now(),
        }),
      );
      await passkeys.remove(owner, passkey_id);
      log.info(owner, 'removed a passkey');
      return {};
    },
  } satisfies Partial<Handlers<PasskeysDefinition>>;
};

async function activePartner({ partners }: Dependencies, partner_id: string): Promise<Partner> {
  const partner = await partners.find(partner_id);
  if (!partner) throw unknownPerson();
  refuseUnlessActive(partner.status);
  return partner;
}

const personOf = async (
  { people }: Dependencies,
  { partner_id, person_id }: PersonRef,
): Promise<Person> => orNotFound(await people.find(partner_id, person_id), 'person');

async function findInvited(deps: Dependencies, token_hashes: string[]) {
  const found = await deps.people.findInvited(token_hashes);
  const invitation = openInvitation(found?.person, token_hashes, deps.now());
  // An invitation that is open has its person.
  const { partner_id, person } = found as FoundPerson;
  return { partner: await activePartner(deps, partner_id), person, invitation };
}

/** An invitation's link names its person, so another partner's invitation does not matter. */
async function findIdentified(
  deps: Dependencies,
  identity: Identity,
  token_hashes: string[],
): Promise<FoundPerson> {
  if (token_hashes.length > 0) {
    const { partner, person } = await findInvited(deps, token_hashes);
    if (emailOf(identity) === person.email) return { partner_id: partner._id, person };
    throw issuerRefusal(
      'other_address',
      'the invitation is for another address, or the issuer has not verified yours',
    );
  }
  const known = await deps.people.withIdentity(identity);
  const lastLogIn = ({ person }: FoundPerson): number => person.last_login_at?.getTime() ?? 0;
  const [latest] = known.sort((one, other) => lastLogIn(other) - lastLogIn(one));
  if (latest) return latest;
  throw issuerRefusal(
    'unknown_person',
    'nobody has signed in with this account: the first time, open the link of the invitation',
  );
}

interface NewPasskey {
  partner_id: string;
  person: Person;
  response?: Record<string, unknown> | undefined;
  name: string;
}

/** Verifies and stores a new passkey. It counts once `listed` has it among those of its person. */
async function register(
  { people, passkeys, ceremonies, now, log }: SignInDependencies,
  { partner_id, person, response, name: given }: NewPasskey,
  listed: (list: Person[], passkey_id: string, at: Date) => Changed<Person>,
): Promise<{ person: Person; passkey: PasskeyRecord }> {
  const name = checkPasskeyName(given);
  const verified = await ceremonies.verifyRegistration(person, response);
  const at = now();
  const { person_id } = person;
  const owner = { partner_id, person_id };
  const passkey = { ...verified, ...owner, name, created_at: at, last_used_at: null };
  const { _id } = passkey;
  // An ID that is taken is the passkey of this or another person, and stays.
  if (person.passkey_ids.includes(_id) || !(await passkeys.store(passkey))) throw unusable();
  try {
    const changed = await people.change(partner_id, (list) => listed(list, _id, at));
    log.info({ ...owner }, 'registered a passkey');
    return { person: changed, passkey };
  } catch (error) {
    const { passkey_ids = [] } = (await people.find(partner_id, person_id)) ?? {};
    if (!passkey_ids.includes(_id)) await passkeys.remove(owner, _id);
    throw error;
  }
}

async function openSession(
  { dashboardSessions, now, log }: Dependencies,
  partner: Partner,
  person: Person,
  token_hash: string,
  authenticated_at?: Date | null,
): Promise<Session> {
  const { person_id } = person;
  const opened = {
    partner_id: partner._id,
    person_id,
    ...(authenticated_at !== undefined && { authenticated_at }),
  };
  const session = newSession(opened, token_hash, now());
  await dashboardSessions.insert(session);
  await dashboardSessions.removeOldest(partner._id, person_id, SESSIONS_MAX);
  log.info({ partner_id: partner._id, person_id }, 'opened console session of a person');
  return sessionMessage(partner, session, person);
}

function emailOf({ email }: Identity): string | null {
  try {
    return email === null ? null : checkEmail(email);
  } catch {
    return null;
  }
}

const unusable = (): ApiError =>
  invalidField('response', 'is of a passkey that cannot be used here');

const passkeyMessage = (passkey: PasskeyRecord): Passkey =>
  messageOf(Passkey, { ...passkey, passkey_id: passkey._id });
