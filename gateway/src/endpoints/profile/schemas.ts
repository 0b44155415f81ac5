import { object, text } from '../parts/inputs';
import { notEmpty } from '../parts/rules';

/** Upper bounds only: the upstream has lower limits. */
const TEXT_MAX = 4_096;
const WEBSITES_MAX = 50;

const profile = object({
  about: text(TEXT_MAX, 'About text of the profile.'),
  address: text(TEXT_MAX, 'Postal address.'),
  email: text(TEXT_MAX, 'Contact email address.'),
  websites: {
    type: 'array',
    maxItems: WEBSITES_MAX,
    description: 'Website URLs.',
    items: {
      type: 'string',
      pattern: '^[hH][tT][tT][pP][sS]?://',
      errorMessage: 'must be a URL that starts with http:// or https://',
    },
  },
});

export const updateProfile = notEmpty(profile);
