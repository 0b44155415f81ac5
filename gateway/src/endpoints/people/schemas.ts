import { ROLES } from '@bmg/common/people';
import { object, text } from '../parts/inputs';

export const EMAIL_MAX = 254;

const role = {
  type: 'string',
  enum: ROLES,
  description:
    'What the person may do in the console: `owner` everything, `developer` all but billing, `support` send and read, `billing` see usage and costs.',
} as const;

export const invitePerson = object(
  { email: text(EMAIL_MAX, 'E-mail address of the person.'), role },
  ['email', 'role'],
);

export const updatePerson = object({ role }, ['role']);
