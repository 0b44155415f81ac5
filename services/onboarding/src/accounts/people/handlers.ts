// RPC handlers of a partner's people: who may sign in to the console, and with which role.
import { randomBytes } from 'node:crypto';
import { ApiError } from '@bmg/common/errors';
import { newId } from '@bmg/common/ids';
import { KEY_SCOPES } from '@bmg/common/keys';
import type { Handlers } from '@bmg/common/rpc';
import {
  type BroadcastApproval,
  type PeopleDefinition,
  Person as PersonMessage,
} from '@bmg/proto/people';
import { callerOf, type Asked } from '../keys';
import { checkEmail } from '../../ground/contacts';
import { orNotFound } from '../../ground/insert';
import { messageOf } from '../../ground/message';
import { bumpPartner, noSuchPartner, type Partner, partnerOf } from '../../ground/partners';
import type { Person } from '../../ground/people';
import {
  approversIn,
  checkApprovalSetting,
  checkMayGive,
  checkRole,
  INVITATION_MS,
  PEOPLE_MAX,
  withInvited,
  without,
  withRenewed,
  withRole,
} from './rules';
import type { Dependencies } from '../../dependencies';

const TOKEN_BYTES = 32;

export function createPeopleHandlers(deps: Dependencies): Handlers<PeopleDefinition> {
  const { people, passkeys, dashboardSessions, now, log } = deps;
  return {
    async listPeople({ partner_id }) {
      await partnerOf(deps.partners, partner_id);
      const list = await people.of(partner_id);
      return { people: list.map(personMessage), people_max: PEOPLE_MAX };
    },
    getPerson: async ({ partner_id, person_id }) =>
      personMessage(orNotFound(await people.find(partner_id, person_id), 'person')),
    async invitePerson(request) {
      const { partner_id } = request;
      const email = checkEmail(request.email);
      const role = checkRole(request.role);
      await partnerOf(deps.partners, partner_id);
      const { actor, scopes } = await changingCaller(deps, request);
      checkMayGive(scopes, role);
      const { invitation_url, invitation } = newInvitation(deps);
      const at = now();
      const invited = { ...newPerson(at), email, role, invited_by: actor, invitation };
      const person = await people.change(partner_id, (list) => withInvited(list, invited));
      log.info({ partner_id, person_id: person.person_id, role }, 'invited a person');
      return { person: personMessage(person), invitation_url };
    },
    async updatePerson(request) {
      const { partner_id, person_id } = request;
      const role = checkRole(request.role);
      const { scopes } = await changingCaller(deps, request);
      const { person, is_lower } = await people.change(partner_id, (list) =>
        withRole(list, { person_id, role, scopes, at: now() }),
      );
      if (is_lower) await dashboardSessions.removeOf(partner_id, person_id);
      log.info({ partner_id, person_id, role }, 'changed the role of a person');
      return personMessage(person);
    },
    async removePerson(request) {
      const { partner_id, person_id } = request;
      const { scopes } = await changingCaller(deps, request);
      await people.change(partner_id, (list) => without(list, { person_id, scopes }));
      await dashboardSessions.removeOf(partner_id, person_id);
      await passkeys.removeOf({ partner_id, person_id });
      log.info({ partner_id, person_id }, 'removed a person');
      return {};
    },
    async renewInvitation(request) {
      const { partner_id, person_id } = request;
      const { scopes, is_partner } = await changingCaller(deps, request);
      const { invitation_url, invitation } = newInvitation(deps);
      const person = await people.change(partner_id, (list) =>
        withRenewed(list, { person_id, scopes, is_partner, invitation, at: now() }),
      );
      log.info({ partner_id, person_id }, 'renewed the invitation of a person');
      return { person: personMessage(person), invitation_url };
    },
    ...approvalHandlers(deps),
  };
}

const approvalHandlers = ({ partners, people, versions, now, log }: Dependencies) =>
  ({
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
      await bumpPartner({ versions }, partner_id);
      log.info({ partner_id, above }, 'partner changed the approval of broadcasts');
      return approvalMessage(partner, list);
    },
  }) satisfies Partial<Handlers<PeopleDefinition>>;

function newInvitation({ settings, peppers, now }: Dependencies) {
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
}

const approvalMessage = (
  { approval_above }: Pick<Partner, 'approval_above'>,
  list: readonly Person[],
): BroadcastApproval => ({ above: approval_above ?? undefined, approvers: approversIn(list) });

const newPerson = (at: Date) =>
  ({
    person_id: newId('per', at.getTime()),
    state: 'invited',
    passkey_ids: [],
    identity: null,
    last_login_at: null,
    created_at: at,
    updated_at: at,
  }) as const satisfies Partial<Person>;

/** The caller of a change. `is_partner`: the partner key, its console session, or the operator. */
async function changingCaller(deps: Dependencies, request: Asked) {
  const { actor, grant } = await callerOf(deps, request);
  if (grant?.waba_ids ?? grant?.addresses ?? grant?.expires_at) {
    throw new ApiError(
      'KEY_RESTRICTED',
      'a key that is limited to accounts, addresses or a time does not change people',
    );
  }
  return { actor, scopes: grant?.scopes ?? KEY_SCOPES, is_partner: grant === undefined };
}

const personMessage = (person: Person): PersonMessage =>
  messageOf(PersonMessage, {
    ...person,
    invitation_expires_at: person.invitation?.expires_at,
    email_verified: person.identity !== null,
    passkeys: person.passkey_ids.length,
  });
