// The people who sign in to the console.
import { ROLES } from '@bmg/common/people';
import { PeopleDefinition } from '@bmg/proto/people';
import { del, get, patch, post, rpc, type Endpoint } from '../endpoint';
import * as is from '../parts/answers';
import { choice, object, text } from '../parts/inputs';
import { byCaller, ofOne, partnerAddition, type Caller } from '../parts/rows';
import { shaped } from '../parts/shape';

const PERSON_ID = 'per_01k5x3v9m2c4e6g8j0n1p3r5t7';

const person = is.named('Person', {
  person_id: is.text(PERSON_ID, 'ID of the person.'),
  email: is.text('ada@example.com', 'In lower case.'),
  email_verified: is.flag(
    false,
    'True once the person has signed in with the identity provider of the operator, which has verified the address. Until then it is what the inviter wrote.',
  ),
  role: is.choice(ROLES),
  state: is.open(['invited', 'active']),
  invited_by: is.named('Inviter', {
    type: is.open(['partner_key', 'api_key', 'person', 'operator']),
    id: is.maybe.text(PERSON_ID, 'Of the API key or the person.'),
    name: is.maybe.text('grace@example.com', 'The name of the key or the address of the person.'),
  }),
  invitation_expires_at: is.maybe.time('Null: there is no open invitation.'),
  passkeys: is.whole(1, 'How many passkeys the person has.'),
  passkey_added_at: is.maybe.time('When the person last registered a passkey.'),
  last_login_at: is.maybe.time(),
  created_at: is.time(),
  updated_at: is.time(),
});

const invitation_url = is.text(
  'https://gateway.example.com/dashboard/invitation#2Jq0cB4l7mX1vY9nR5tZ8wK3pD6sF0gH2jL4aQ7eU1i',
  'Give it to the person. It works once, for seven days, and is shown only now: no mail is sent.',
);

const ofPerson = ofOne({ person_id: is.text(PERSON_ID, 'ID of the person.') });

const GIVES =
  'A caller gives, changes and removes no role that allows more than its own key or role.';

const shown = shaped(person);

/** Rows with it take no Idempotency-Key: the answer would be stored with the link in it. */
const withLink = shaped(is.record({ person, invitation_url }));

const onPerson = (input: Caller & { params: { person_id: string } }) => ({
  ...byCaller(input),
  person_id: input.params.person_id,
});

export const EMAIL_MAX = 254;

const role = choice(
  ROLES,
  'What the person may do in the console: `owner` everything, `developer` all but billing, `support` send and read, `billing` see usage and costs.',
);

const invitePerson = object({ email: text(EMAIL_MAX, 'E-mail address of the person.'), role }, [
  'email',
  'role',
]);

const updatePerson = object({ role }, ['role']);

/** What only the operator's command line sends. */
const OF_OPERATOR = ['caller_is_operator'] as const;

export const people: Endpoint[] = [
  get('/people', rpc(PeopleDefinition, 'listPeople'), {
    ...partnerAddition,
    key_scope: 'manage',
    reply: ({ people: list, people_max }) => ({ people: list.map(shown), people_max }),
    summary: 'List the people who may sign in',
    answer: is.record({
      people: is.list(person, 'The oldest first.'),
      people_max: is.whole(100, 'As many as you may have.'),
    }),
    notes: 'Lists the people who may sign in to the console, those who are invited included.',
  }),
  get('/people/:person_id', rpc(PeopleDefinition, 'getPerson'), {
    ...ofPerson,
    key_scope: 'manage',
    reply: (person) => ({ person: shown(person) }),
    summary: 'Retrieve a person',
    answer: is.record({ person }),
    notes: 'Retrieves one person. A removed person is not found.',
  }),
  post('/people', rpc(PeopleDefinition, 'invitePerson'), {
    ...partnerAddition,
    fresh_log_in: true,
    status: 201,
    audit: { values: ['email', 'role'], ids: { person_id: 'person.person_id' } },
    omits: OF_OPERATOR,
    body: invitePerson,
    request: ({ body: { email, role }, ...input }) => ({ ...byCaller(input), email, role }),
    reply: withLink,
    summary: 'Invite a person to the console',
    answer: is.record({ person, invitation_url }),
    example: { email: 'ada@example.com', role: 'developer' },
    codes: ['LIMIT_REACHED'],
    notes: `Invites a person to the console. The answer has a link, with which the person registers a passkey. The service sends no mail: give the link to the person yourself. ${GIVES}`,
  }),
  patch('/people/:person_id', rpc(PeopleDefinition, 'updatePerson'), {
    ...ofPerson,
    fresh_log_in: true,
    audit: { values: ['role'], before_of: 'person', reduces_risk: 'if_narrower' },
    omits: OF_OPERATOR,
    body: updatePerson,
    request: ({ body, ...input }) => ({ ...onPerson(input), role: body.role }),
    reply: (person) => ({ person: shown(person) }),
    summary: 'Change the role of a person',
    answer: is.record({ person }),
    example: { role: 'support' },
    notes: `Changes the role of a person, at once. If the new role allows less, the sessions of the person end. The last active owner stays an owner. ${GIVES}`,
  }),
  del('/people/:person_id', rpc(PeopleDefinition, 'removePerson'), {
    ...ofPerson,
    audit: { before_of: 'person', before: ['email', 'role', 'state'], reduces_risk: true },
    omits: OF_OPERATOR,
    request: onPerson,
    summary: 'Remove a person from the console',
    answer: is.nothing,
    notes: `Removes a person with the passkeys and the open invitation, and ends the sessions of the person at once. The last active owner cannot be removed. ${GIVES}`,
  }),
  post('/people/:person_id/invitation', rpc(PeopleDefinition, 'renewInvitation'), {
    ...ofPerson,
    fresh_log_in: true,
    audit: { before_of: 'person', before: ['email', 'role', 'state'] },
    request: onPerson,
    reply: withLink,
    summary: 'Renew the invitation of a person',
    answer: is.record({ person, invitation_url }),
    notes:
      'Makes a new link for an invited person; the one before stops working. For an active person, who has lost all passkeys, only the partner key gets one, because the link signs in as that person.',
  }),
];
