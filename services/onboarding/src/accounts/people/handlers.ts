// RPC handlers of a partner's people: who may sign in to the console, and with which role.
import { randomBytes } from 'node:crypto';
import { invalidKey, partnerVersionKey, type Versions } from '@bmg/common/directory';
import { ApiError } from '@bmg/common/errors';
import { newId } from '@bmg/common/ids';
import { KEY_SCOPES, type KeyScope, type Peppers } from '@bmg/common/keys';
import { ROLE_SCOPES } from '@bmg/common/people';
import type { Handlers } from '@bmg/common/rpc';
import type { Logger } from '@bmg/common/telemetry';
import type {
  BroadcastApproval,
  PeopleDefinition,
  Person as PersonMessage,
} from '@bmg/proto/people';
import type { DashboardSessions } from '../sessions';
import type { Asked, PartnerKeys } from '../keys';
import { checkEmail } from '../../ground/email';
import { noSuchPartner, type Partner, partnerOf, type Partners } from '../../ground/partners';
import type { Passkeys } from './store';
import type { People, Person } from '../../ground/people';
import {
  approversIn,
  checkApprovalSetting,
  checkMayGive,
  checkRole,
  INVITATION_MS,
  noSuchPerson,
  PEOPLE_MAX,
  withInvited,
  without,
  withRenewed,
  withRole,
} from './rules';

export interface PeopleDependencies {
  partners: Pick<Partners, 'find' | 'change'>;
  versions: Versions;
  partnerKeys: Pick<PartnerKeys, 'find'>;
  people: People;
  passkeys: Pick<Passkeys, 'removeOf'>;
  dashboardSessions: Pick<DashboardSessions, 'removeOf'>;
  peppers: Pick<Peppers, 'hash'>;
  settings: { PUBLIC_URL: string };
  now: () => Date;
  log: Logger;
}

const TOKEN_BYTES = 32;

interface Caller {
  actor: Person['invited_by'];
  scopes: readonly KeyScope[];
  /** The partner key, its console session, or the operator. */
  is_partner: boolean;
}

type PersonAsked = Asked & { caller_is_operator?: boolean | undefined };

/** Longer than 70 lines: one short method for each RPC. */
export function createPeopleHandlers(deps: PeopleDependencies): Handlers<PeopleDefinition> {
  const { partners, people, passkeys, dashboardSessions, versions, peppers, settings } = deps;
  const { now, log } = deps;
  const newInvitation = () => {
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    const base = settings.PUBLIC_URL.replace(/\/+$/, '');
    return {
      // In the fragment, which browsers send to no server.
      invitation_url: `${base}/dashboard/invitation#${token}`,
      invitation: {
        token_hash: peppers.hash(token),
        expires_at: new Date(now().getTime() + INVITATION_MS),
      },
    };
  };

  return {
    async listPeople({ partner_id }) {
      await partnerOf(partners, partner_id);
      const found = await people.of(partner_id);
      return { people: found.map(personMessage), people_max: PEOPLE_MAX };
    },
    async getPerson({ partner_id, person_id }) {
      const person = await people.find(partner_id, person_id);
      if (!person) throw noSuchPerson();
      return personMessage(person);
    },
    async invitePerson(request) {
      const { partner_id } = request;
      const email = checkEmail(request.email);
      const role = checkRole(request.role);
      await partnerOf(partners, partner_id);
      const { actor, scopes } = await callerOf(deps, request);
      checkMayGive(scopes, role);
      const { invitation_url, invitation } = newInvitation();
      const at = now();
      const invited: Person = {
        person_id: newId('per', at.getTime()),
        email,
        role,
        state: 'invited',
        invited_by: actor,
        invitation,
        passkey_ids: [],
        identity: null,
        last_login_at: null,
        created_at: at,
        updated_at: at,
      };
      const person = await people.change(partner_id, (list) => withInvited(list, invited));
      log.info({ partner_id, person_id: person.person_id, role }, 'invited a person');
      return { person: personMessage(person), invitation_url };
    },
    async updatePerson(request) {
      const { partner_id, person_id } = request;
      const role = checkRole(request.role);
      const { scopes } = await callerOf(deps, request);
      const { person, is_lower } = await people.change(partner_id, (list) =>
        withRole(list, { person_id, role, scopes, at: now() }),
      );
      if (is_lower) await dashboardSessions.removeOf(partner_id, person_id);
      log.info({ partner_id, person_id, role }, 'changed the role of a person');
      return personMessage(person);
    },
    async removePerson(request) {
      const { partner_id, person_id } = request;
      const { scopes } = await callerOf(deps, request);
      await people.change(partner_id, (list) => without(list, { person_id, scopes }));
      await dashboardSessions.removeOf(partner_id, person_id);
      await passkeys.removeOf({ partner_id, person_id });
      log.info({ partner_id, person_id }, 'removed a person');
      return {};
    },
    async renewInvitation(request) {
      const { partner_id, person_id } = request;
      const { scopes, is_partner } = await callerOf(deps, request);
      const { invitation_url, invitation } = newInvitation();
      const person = await people.change(partner_id, (list) =>
        withRenewed(list, { person_id, scopes, is_partner, invitation, at: now() }),
      );
      log.info({ partner_id, person_id }, 'renewed the invitation of a person');
      return { person: personMessage(person), invitation_url };
    },
    async getBroadcastApproval({ partner_id }) {
      const [partner, list] = await Promise.all([
        partnerOf(partners, partner_id),
        people.of(partner_id),
      ]);
      return approvalMessage(partner, list);
    },
    async setBroadcastApproval({ partner_id, caller_person_id, above = null }) {
      const list = await people.of(partner_id);
      checkApprovalSetting(list, { person_id: caller_person_id, above });
      const partner = await partners.change(partner_id, { approval_above: above }, now());
      if (!partner) throw noSuchPartner(partner_id);
      // The gateways cache it with the keys of the partner.
      await versions.bump([partnerVersionKey(partner_id)]);
      log.info({ partner_id, above }, 'partner changed the approval of broadcasts');
      return approvalMessage(partner, list);
    },
  };
}

const approvalMessage = (
  { approval_above }: Pick<Partner, 'approval_above'>,
  list: readonly Person[],
): BroadcastApproval => ({ above: approval_above ?? undefined, approvers: approversIn(list) });

/** Who makes a request, as stored now: a key may have been revoked since the request was admitted. */
async function callerOf(
  { partnerKeys, people }: Pick<PeopleDependencies, 'partnerKeys' | 'people'>,
  { partner_id, caller_key_id, caller_person_id, caller_is_operator = false }: PersonAsked,
): Promise<Caller> {
  if (caller_key_id !== undefined) {
    const key = await partnerKeys.find(partner_id, caller_key_id);
    if (!key) throw invalidKey();
    if (key.waba_ids ?? key.addresses ?? key.expires_at) {
      throw new ApiError(
        'KEY_RESTRICTED',
        'a key that is limited to accounts, addresses or a time does not change people',
      );
    }
    const actor = { type: 'api_key', id: key._id, name: key.name };
    return { actor, scopes: key.scopes, is_partner: false };
  }
  if (caller_person_id === undefined) {
    return {
      actor: { type: caller_is_operator ? 'operator' : 'partner_key', id: null, name: null },
      scopes: KEY_SCOPES,
      is_partner: true,
    };
  }
  const person = await people.find(partner_id, caller_person_id);
  if (!person) throw new ApiError('UNAUTHORIZED', 'this person was removed');
  return {
    actor: { type: 'person', id: person.person_id, name: person.email },
    scopes: ROLE_SCOPES[person.role],
    is_partner: false,
  };
}

const personMessage = (person: Person): PersonMessage => ({
  person_id: person.person_id,
  email: person.email,
  role: person.role,
  state: person.state,
  invited_by: {
    type: person.invited_by.type,
    id: person.invited_by.id ?? undefined,
    name: person.invited_by.name ?? undefined,
  },
  invitation_expires_at: person.invitation?.expires_at,
  email_verified: person.identity !== null,
  passkeys: person.passkey_ids.length,
  passkey_added_at: person.passkey_added_at,
  last_login_at: person.last_login_at ?? undefined,
  created_at: person.created_at,
  updated_at: person.updated_at,
});
