// The people who sign in to the console.
import { PeopleDefinition, type InvitedPerson, type Person } from '@bmg/proto/people';
import * as docs from './docs';
import * as schemas from './schemas';
import { del, get, patch, post, rpc, type Endpoint, type Fields } from '../endpoint';

const shown = (person: Person): Fields => ({
  ...person,
  invited_by: {
    type: person.invited_by?.type,
    id: person.invited_by?.id ?? null,
    name: person.invited_by?.name ?? null,
  },
  invitation_expires_at: person.invitation_expires_at ?? null,
  passkey_added_at: person.passkey_added_at ?? null,
  last_login_at: person.last_login_at ?? null,
});

/** Takes no Idempotency-Key: the answer would be stored with the link in it. */
const withLink = ({ person, invitation_url }: InvitedPerson): Fields => ({
  person: shown(person as Person),
  invitation_url,
});

interface Given {
  partner_id: string;
  key_id?: string | undefined;
  person_id?: string | undefined;
}

/** Who makes the request: none can give more rights than it has. */
const byCaller = ({ partner_id, key_id, person_id }: Given) => ({
  partner_id,
  caller_key_id: key_id,
  caller_person_id: person_id,
});

const onPerson = (input: Given & { params: { person_id: string } }) => ({
  ...byCaller(input),
  person_id: input.params.person_id,
});

/** What only the operator's command line sends. */
const OF_OPERATOR = ['caller_is_operator'] as const;

export const people: Endpoint[] = [
  get('/people', rpc(PeopleDefinition, 'listPeople'), {
    scope: 'partner',
    key_scope: 'manage',
    addition: true,
    reply: ({ people: list, people_max }) => ({ people: list.map(shown), people_max }),
    docs: docs.listPeople,
    summary: 'List the people who may sign in',
  }),
  get('/people/:person_id', rpc(PeopleDefinition, 'getPerson'), {
    scope: 'partner',
    key_scope: 'manage',
    addition: true,
    reply: (person) => ({ person: shown(person) }),
    docs: docs.getPerson,
    summary: 'Retrieve a person',
  }),
  post('/people', rpc(PeopleDefinition, 'invitePerson'), {
    scope: 'partner',
    fresh_log_in: true,
    addition: true,
    status: 201,
    audit: { values: ['email', 'role'], ids: { person_id: 'person.person_id' } },
    omits: OF_OPERATOR,
    body: schemas.invitePerson,
    request: ({ body, ...input }) => ({
      ...byCaller(input),
      email: body.email,
      role: body.role,
    }),
    reply: withLink,
    docs: docs.invitePerson,
    summary: 'Invite a person to the console',
  }),
  patch('/people/:person_id', rpc(PeopleDefinition, 'updatePerson'), {
    scope: 'partner',
    fresh_log_in: true,
    addition: true,
    audit: { values: ['role'], before_of: 'person', reduces_risk: 'if_narrower' },
    omits: OF_OPERATOR,
    body: schemas.updatePerson,
    request: ({ body, ...input }) => ({ ...onPerson(input), role: body.role }),
    reply: (person) => ({ person: shown(person) }),
    docs: docs.updatePerson,
    summary: 'Change the role of a person',
  }),
  del('/people/:person_id', rpc(PeopleDefinition, 'removePerson'), {
    scope: 'partner',
    addition: true,
    audit: { before_of: 'person', before: ['email', 'role', 'state'], reduces_risk: true },
    omits: OF_OPERATOR,
    request: onPerson,
    docs: docs.removePerson,
    summary: 'Remove a person from the console',
  }),
  post('/people/:person_id/invitation', rpc(PeopleDefinition, 'renewInvitation'), {
    scope: 'partner',
    fresh_log_in: true,
    addition: true,
    audit: { before_of: 'person', before: ['email', 'role', 'state'] },
    request: onPerson,
    reply: withLink,
    docs: docs.renewInvitation,
    summary: 'Renew the invitation of a person',
  }),
];
