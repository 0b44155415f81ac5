import { NumberAdminDefinition } from '@bmg/proto/numberadmin';
import { get, put, rpc, type Endpoint } from '../endpoint';
import * as is from '../parts/answers';
import { notEmpty, text } from '../parts/inputs';
import { nodeUnder } from '../parts/rows';

/** Upper bounds only: the upstream has lower limits. */
const TEXT_MAX = 4_096;
const WEBSITES_MAX = 50;

const updateProfile = notEmpty({
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

export const profile: Endpoint[] = [
  get('/profile', rpc(NumberAdminDefinition, 'getProfile'), {
    scope: 'number',
    summary: 'Retrieve the business profile of a number',
    ...nodeUnder(
      'profile',
      is.node({
        about: is.text('Plants'),
        address: is.text('1 Example Street'),
        description: is.text('A shop for plants'),
        email: is.text('hi@example.org'),
        profile_picture_url: is.text('https://pictures.example.org/1'),
        websites: is.list(is.text('https://example.org/')),
        vertical: is.text('RETAIL'),
      }),
    ),
    notes: 'Returns the profile as the upstream has it.',
  }),
  put('/profile', rpc(NumberAdminDefinition, 'updateProfile'), {
    scope: 'number',
    body: updateProfile,
    request: ({ body, target }) => ({ profile: body, target }),
    summary: 'Update the business profile of a number',
    answer: is.nothing,
    example: { about: 'Plants and pots', websites: ['https://example.org/'] },
    notes: 'Fields that are not in the body keep their values.',
  }),
];
