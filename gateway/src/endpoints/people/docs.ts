import { ROLES } from '@bmg/common/people';
import type { RowDocs } from '../endpoint';
import * as is from '../parts/answers';

const PERSON_ID = 'per_01k5x3v9m2c4e6g8j0n1p3r5t7';

const person = is.record(
  {
    person_id: is.text(PERSON_ID, 'ID of the person.'),
    email: is.text('ada@example.com', 'In lower case.'),
    email_verified: is.flag(
      false,
      'True once the person has signed in with the identity provider of the operator, which has verified the address. Until then it is what the inviter wrote.',
    ),
    role: is.choice(ROLES),
    state: is.open(['invited', 'active']),
    invited_by: is.record(
      {
        type: is.open(['partner_key', 'api_key', 'person', 'operator']),
        id: is.orNull(is.text(PERSON_ID, 'Of the API key or the person.')),
        name: is.orNull(
          is.text('grace@example.com', 'The name of the key or the address of the person.'),
        ),
      },
      { title: 'Inviter' },
    ),
    invitation_expires_at: is.orNull(is.time('Null: there is no open invitation.')),
    passkeys: is.whole(1, 'How many passkeys the person has.'),
    passkey_added_at: is.orNull(is.time('When the person last registered a passkey.')),
    last_login_at: is.orNull(is.time()),
    created_at: is.time(),
    updated_at: is.time(),
  },
  { title: 'Person' },
);

const invitation_url = is.text(
  'https://gateway.example.com/dashboard/invitation#2Jq0cB4l7mX1vY9nR5tZ8wK3pD6sF0gH2jL4aQ7eU1i',
  'Give it to the person. It works once, for seven days, and is shown only now: no mail is sent.',
);

const params = { person_id: is.text(PERSON_ID, 'ID of the person.') };

const GIVES =
  'A caller gives, changes and removes no role that allows more than its own key or role.';

export const listPeople: RowDocs = {
  answer: is.record({
    people: is.list(person, 'The oldest first.'),
    people_max: is.whole(100, 'As many as you may have.'),
  }),
  notes: 'Lists the people who may sign in to the console, those who are invited included.',
};

export const getPerson: RowDocs = {
  params,
  answer: is.record({ person }),
  codes: ['NOT_FOUND'],
  notes: 'Retrieves one person. A removed person is not found.',
};

export const invitePerson: RowDocs = {
  answer: is.record({ person, invitation_url }),
  example: { email: 'ada@example.com', role: 'developer' },
  codes: ['LIMIT_REACHED'],
  notes: `Invites a person to the console. The answer has a link, with which the person registers a passkey. The service sends no mail: give the link to the person yourself. ${GIVES}`,
};

export const updatePerson: RowDocs = {
  params,
  answer: is.record({ person }),
  example: { role: 'support' },
  codes: ['NOT_FOUND'],
  notes: `Changes the role of a person, at once. If the new role allows less, the sessions of the person end. The last active owner stays an owner. ${GIVES}`,
};

export const removePerson: RowDocs = {
  params,
  answer: is.nothing,
  codes: ['NOT_FOUND'],
  notes: `Removes a person with the passkeys and the open invitation, and ends the sessions of the person at once. The last active owner cannot be removed. ${GIVES}`,
};

export const renewInvitation: RowDocs = {
  params,
  answer: is.record({ person, invitation_url }),
  codes: ['NOT_FOUND'],
  notes:
    'Makes a new link for an invited person; the one before stops working. For an active person, who has lost all passkeys, only the partner key gets one, because the link signs in as that person.',
};
