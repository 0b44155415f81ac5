import type { RowDocs } from '../endpoint';
import * as is from '../parts/answers';

export const getProfile: RowDocs = {
  answer: is.record({
    profile: is.node({
      about: is.text('Plants'),
      address: is.text('1 Example Street'),
      description: is.text('A shop for plants'),
      email: is.text('hi@example.org'),
      profile_picture_url: is.text('https://pictures.example.org/1'),
      websites: is.list(is.text('https://example.org/')),
      vertical: is.text('RETAIL'),
    }),
  }),
  notes: 'Returns the profile as the upstream has it.',
};

export const updateProfile: RowDocs = {
  answer: is.nothing,
  example: { about: 'Plants and pots', websites: ['https://example.org/'] },
  notes: 'Fields that are not in the body keep their values.',
};
