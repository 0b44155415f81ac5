import { ROLES } from '@bmg/common/people';
import { choice, object, text } from '../parts/inputs';

export const EMAIL_MAX = 254;

const role = choice(
  ROLES,
  'What the person may do in the console: `owner` everything, `developer` all but billing, `support` send and read, `billing` see usage and costs.',
);

export const invitePerson = object(
  { email: text(EMAIL_MAX, 'E-mail address of the person.'), role },
  ['email', 'role'],
);

export const updatePerson = object({ role }, ['role']);
